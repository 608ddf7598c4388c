const hasNoBody = (error: HttpClientError.HttpClientError): boolean => error.reason._tag === "EmptyBodyError"
