package engine

import "time"

// Limits is the one table of how long anything may take. Each row is shorter
// than what it is part of, so that whoever is inside gives up before whoever
// waits outside does, and every caller gets an answer and not a cut line.
//
//	Request ⊃ QueueWait + Transaction + Commit + Settle
//	Transaction ⊃ Silence ⊃ Statement ⊃ Lock ⊃ Connect ⊃ BatchLock
type Limits struct {
	// Request is what a caller outside waits for an answer. It is kept by
	// whoever serves requests; all that is here must fit into it.
	Request time.Duration
	// QueueWait is how long work waits for its turn; then it is refused.
	QueueWait time.Duration
	// Admission is how long a newcomer may have to wait by the pace of late.
	// Who would wait longer is refused at once.
	Admission time.Duration
	// Transaction is how long one transaction may take before its commit,
	// with every repetition of it.
	Transaction time.Duration
	// Commit is how long the answer to a commit is waited for. A commit is
	// never cancelled: after this its outcome is looked up.
	Commit time.Duration
	// Settle is how long looking up a lost commit may take.
	Settle time.Duration
	// Silence is how long a server may say nothing in any exchange before its
	// connection is given up. It lets the server's own limit speak first.
	Silence time.Duration
	// Statement is when the server ends a statement by itself.
	Statement time.Duration
	// Lock is how long a statement that runs alone waits for somebody else's
	// transaction; SQLite waits as long for another process.
	Lock time.Duration
	// Connect is how long opening a connection may take.
	Connect time.Duration
	// BatchLock is how long a batch waits for a lock: whoever needs what is
	// locked is then set aside, and the others go on.
	BatchLock time.Duration
	// LoneLock is the same for the calls of such a batch, one by one.
	LoneLock time.Duration
}

// DefaultLimits is the table the service runs with.
func DefaultLimits() Limits {
	return Limits{
		Request:     30 * time.Second,
		QueueWait:   2 * time.Second,
		Admission:   time.Second,
		Transaction: 12 * time.Second,
		Commit:      6 * time.Second,
		Settle:      6 * time.Second,
		Silence:     9 * time.Second,
		Statement:   8 * time.Second,
		Lock:        5 * time.Second,
		Connect:     3 * time.Second,
		BatchLock:   100 * time.Millisecond,
		LoneLock:    20 * time.Millisecond,
	}
}

// or fills what is not said from the usual table.
func (l Limits) or(usual Limits) Limits {
	mine := []*time.Duration{
		&l.Request, &l.QueueWait, &l.Admission, &l.Transaction, &l.Commit, &l.Settle, &l.Silence, &l.Statement,
		&l.Lock, &l.Connect, &l.BatchLock, &l.LoneLock,
	}
	for i, other := range []time.Duration{
		usual.Request, usual.QueueWait, usual.Admission, usual.Transaction, usual.Commit, usual.Settle, usual.Silence, usual.Statement,
		usual.Lock, usual.Connect, usual.BatchLock, usual.LoneLock,
	} {
		if *mine[i] <= 0 {
			*mine[i] = other
		}
	}
	return l
}

// served is how long a caller whose work was taken waits for what became of it.
func (l Limits) served() time.Duration { return l.Transaction + l.Commit + l.Settle }
