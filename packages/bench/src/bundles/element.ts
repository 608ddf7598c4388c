/** The element by itself. */
import "@stevedore/browser/element"
