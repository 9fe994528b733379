package landfall

import "embed"

// Handbook contains the documentation as it is in the repository, for the pages that
// the server shows under /docs/handbook/.
//
//go:embed README.md SECURITY.md CONTRIBUTING.md CHANGELOG.md LICENSE docs
var Handbook embed.FS
