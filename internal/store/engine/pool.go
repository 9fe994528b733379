package engine

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// pool keeps a bounded number of connections to a PostgreSQL server. It is our
// own because of what a pool of others does unasked: repeat a statement whose
// answer was lost, and go on using connections that no longer answer.
type pool struct {
	config  *pgx.ConnConfig
	limits  Limits
	slots   chan struct{}
	lock    sync.Mutex
	idle    []*conn // the last one used last
	era     *era
	closed  bool
	planted fault
}

// era is counted for all pools of a server together. Connections of an earlier
// one are not used any more: when one breaks or falls silent, the others that
// lead to the same server are in doubt.
type era struct{ atomic.Int64 }

// conn is one connection.
type conn struct {
	*pgx.Conn
	wire *wire
	up   atomic.Bool
	// committing says that a commit is under way. Nobody may cancel it: a
	// server that waits for its standby would answer by not waiting.
	committing atomic.Bool
	warned     atomic.Bool // the server had something to say about the commit
	era        int64
	since      time.Time // when it became idle
}

// longestIdle is how long a connection is kept for nothing.
const longestIdle = 5 * time.Minute

// newPool makes an empty one; connections are opened when somebody needs
// them.
func newPool(config *pgx.ConnConfig, limits Limits, of *era, size int) *pool {
	return &pool{config: config, limits: limits, era: of, slots: make(chan struct{}, size)}
}

var errCommitting = errors.New("a commit is not cancelled")

// connect opens a connection.
func (p *pool) connect(ctx context.Context) (*conn, error) {
	c := &conn{era: p.era.Load()}
	config := p.config.Copy()
	dialer := &net.Dialer{KeepAlive: 15 * time.Second}
	config.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		// The driver dials once more to cancel what is under way.
		if c.committing.Load() {
			return nil, errCommitting
		}
		dialled, err := dialer.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		w := &wire{Conn: dialled, silence: p.limits.Silence}
		// The first one is the connection; later ones only carry a
		// cancellation.
		if !c.up.Load() {
			c.wire = w
		}
		return w, nil
	}
	config.OnNotice = func(_ *pgconn.PgConn, notice *pgconn.Notice) {
		if notice.SeverityUnlocalized == "WARNING" || notice.Severity == "WARNING" {
			c.warned.Store(true)
		}
	}
	var err error
	if c.Conn, err = pgx.ConnectConfig(ctx, config); err != nil {
		return nil, err
	}
	learnColumns(c.TypeMap())
	c.up.Store(true)
	return c, nil
}

// get waits for a place and gives a connection, one that was used before if
// there is one.
func (p *pool) get(ctx context.Context) (*conn, error) {
	select {
	case p.slots <- struct{}{}:
	default:
		patience := time.NewTimer(p.limits.QueueWait)
		defer patience.Stop()
		select {
		case p.slots <- struct{}{}:
		case <-ctx.Done():
			return nil, left(ctx.Err())
		case <-patience.C:
			return nil, errBusy
		}
	}
	for {
		c, err := p.pop()
		if err != nil {
			<-p.slots
			return nil, err
		}
		if c == nil {
			break
		}
		// Whoever was idle when another one broke leads to the same server, and
		// would let its first user wait for the same silence.
		if !c.IsClosed() && c.era == p.era.Load() && time.Since(c.since) < longestIdle {
			return c, nil
		}
		c.drop()
	}
	c, err := p.connect(ctx)
	if err != nil {
		<-p.slots
		return nil, postgresDialect.wrap(err)
	}
	return c, nil
}

// pop gives the connection that was used last, so that those too many for the
// load grow old and are dropped; nil when there is none.
func (p *pool) pop() (*conn, error) {
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.closed {
		return nil, ErrClosed
	}
	last := len(p.idle) - 1
	if last < 0 {
		return nil, nil
	}
	c := p.idle[last]
	p.idle = p.idle[:last]
	return c, nil
}

// ended says that nobody is served any more.
func (p *pool) ended() bool {
	p.lock.Lock()
	defer p.lock.Unlock()
	return p.closed
}

// put gives a connection back; one that is in a transaction or has failed is
// not used again.
func (p *pool) put(c *conn) {
	defer func() { <-p.slots }()
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.closed || c.era != p.era.Load() || c.IsClosed() || c.PgConn().TxStatus() != 'I' {
		// Not under the lock: closing a connection to a dead host can take its
		// time.
		go c.drop()
		return
	}
	c.since = time.Now()
	p.idle = append(p.idle, c)
}

// doubt begins a new era, unless somebody has noticed already.
func (p *pool) doubt(c *conn) { p.era.CompareAndSwap(c.era, c.era+1) }

// drop ends a connection without a word: there may be nobody to hear it.
func (c *conn) drop() { _ = c.wire.Close() }

// close ends the connections nobody uses; the others end when given back.
func (p *pool) close() {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.closed = true
	for _, c := range p.idle {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		_ = c.Close(ctx)
		cancel()
	}
	p.idle = nil
}
