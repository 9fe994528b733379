// Calls tried from the page go to the service that served it, whatever server
// the document names. This runs before the viewer does.
const base = new URL('..', document.baseURI).href.replace(/\/$/, '');
const viewer = document.querySelector('rapi-doc');
viewer.setAttribute('server-url', base);
viewer.setAttribute('default-api-server', base);
