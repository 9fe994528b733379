package run

// Figures counts what this replica has done for runs since it started.
type Figures struct {
	Live                             int64 // runs of all replicas that have not ended
	Busy                             int64 // workers that hold a slice now
	Created, DryRun, Failed, Refused int64 // accounts
	Retried                          int64 // times an account was postponed for another try
}

// Figures returns the current counts.
func (r *Runner) Figures() Figures {
	return Figures{
		Live: r.live.Load(), Busy: r.busy.Load(), Created: r.created.Load(), DryRun: r.dryRun.Load(), Failed: r.failed.Load(),
		Refused: r.refused.Load(), Retried: r.retried.Load(),
	}
}

// count adds the progress of a batch.
func (r *Runner) count(p progress, dryRun bool) {
	if dryRun {
		r.dryRun.Add(int64(p.succeeded))
	} else {
		r.created.Add(int64(p.succeeded))
		r.onCreated(p.succeeded)
	}
	r.failed.Add(int64(p.failed))
	r.refused.Add(int64(p.refused))
	r.retried.Add(int64(p.postponed))
}
