const byClock = (body: Bytes, clock: Clock.Clock): Bytes => Stream.provideService(body, Clock.Clock, clock)
