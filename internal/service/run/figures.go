package run

// Figures is what this replica has done for runs since it started.
type Figures struct {
	Live                       int64 // runs that have not ended, of all replicas
	Busy                       int64 // workers that hold a slice now
	Succeeded, Failed, Refused int64 // accounts
	Retried                    int64 // times an account was left for another try
}

// Figures reads them.
func (c *Conductor) Figures() Figures {
	return Figures{
		Live: c.live.Load(), Busy: c.busy.Load(), Succeeded: c.succeeded.Load(), Failed: c.failed.Load(),
		Refused: c.refused.Load(), Retried: c.retried.Load(),
	}
}
