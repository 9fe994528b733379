package landfall

import "context"

// RestoreWriter is for a database that was put back from a copy. A store that
// serves refuses a copy that was not admitted, where it can tell.
type RestoreWriter interface {
	// EndTokens forgets every service token and login, those of the console too,
	// and says how many tokens there were. Keys and operators stay.
	EndTokens(ctx context.Context) (int, error)
	// AdmitCopy lets a copy be served from where it is now.
	AdmitCopy(ctx context.Context) error
}
