/** What helps if a 507 says that there is no room for the bytes: not another attempt soon. */
export const noRoom = "There is no room left: whoever runs the service has to make some. Then try again."
