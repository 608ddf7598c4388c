/** The characters that no file name of Windows contains, separators included. */
export const forbidden = /[/\\:*?"<>|]/g

const device = /^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)$/i

/** Whether Windows takes a name for a device, whatever follows a dot. */
export const isDevice = (stem: string): boolean => device.test(stem)
