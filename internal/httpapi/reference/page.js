// Calls tried from the page go to the service that served it.
const base = new URL('..', document.baseURI).href.replace(/\/$/, '');
document.querySelector('rapi-doc').setAttribute('server-url', base);
