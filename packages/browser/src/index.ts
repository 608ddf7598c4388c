/**
 * Stevedore in a page.
 *
 * @since 0.1.0
 */
export {}
