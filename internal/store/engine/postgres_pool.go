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

	"landfall/internal/lib/limits"
)

// pgPool keeps a bounded number of connections to a PostgreSQL server. It exists
// because other pools repeat a statement whose answer was lost, and keep using
// connections that no longer answer.
type pgPool struct {
	config     *pgx.ConnConfig
	password   func(context.Context) (string, error) // nil: that of config
	limits     Limits
	slots      chan struct{}
	lock       sync.Mutex
	idle       []*pgConn // the last one was used last
	generation *generation
	closed     bool
}

// generation is shared by all pools of a server. When a connection breaks or
// falls silent, a new generation starts. Idle connections of earlier
// generations are no longer used, because they lead to the same server.
type generation struct{ atomic.Int64 }

// pgConn is one connection.
type pgConn struct {
	*pgx.Conn
	wire *deadlineConn
	up   atomic.Bool
	// committing is set while a commit runs. It must not be cancelled: a server
	// that waits for its standby would stop waiting and report success.
	committing atomic.Bool
	warned     atomic.Bool // the server sent a warning with the commit
	generation int64
	since      time.Time // when it became idle
}

// newPGPool returns an empty pool. Connections are opened on demand.
func newPGPool(config *pgx.ConnConfig, options Options, of *generation, size int) *pgPool {
	return &pgPool{config: config, password: options.Password, limits: options.Limits, generation: of, slots: make(chan struct{}, size)}
}

var errCommitting = errors.New("a commit cannot be cancelled")

// connect opens a connection.
func (p *pgPool) connect(ctx context.Context) (*pgConn, error) {
	c := &pgConn{generation: p.generation.Load()}
	config := p.config.Copy()
	dialer := &net.Dialer{KeepAlive: 15 * time.Second}
	config.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		// The driver dials again to send a cancellation.
		if c.committing.Load() {
			return nil, errCommitting
		}
		dialled, err := dialer.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		w := &deadlineConn{Conn: dialled, silence: p.limits.Silence}
		// The first one is the connection; later ones are for cancellations.
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
	if err := setPassword(ctx, p.password, config); err != nil {
		return nil, err
	}
	var err error
	if c.Conn, err = pgx.ConnectConfig(ctx, config); err != nil {
		return nil, err
	}
	registerColumns(c.TypeMap())
	c.up.Store(true)
	return c, nil
}

// setPassword asks for the password, so that one that was changed is used for the
// next connection.
func setPassword(ctx context.Context, password func(context.Context) (string, error), config *pgx.ConnConfig) (err error) {
	if password != nil {
		config.Password, err = password(ctx)
	}
	return err
}

// get waits for a slot and returns a connection, preferably one that was used
// before.
func (p *pgPool) get(ctx context.Context) (*pgConn, error) {
	select {
	case p.slots <- struct{}{}:
	default:
		timer := time.NewTimer(p.limits.QueueWait)
		defer timer.Stop()
		select {
		case p.slots <- struct{}{}:
		case <-ctx.Done():
			return nil, callerGone(ctx.Err())
		case <-timer.C:
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
		// A connection that was idle when another one broke leads to the same
		// server, and might be silent too.
		if !c.IsClosed() && c.generation == p.generation.Load() && time.Since(c.since) < limits.DatabaseIdle {
			return c, nil
		}
		c.drop()
	}
	c, err := p.connect(ctx)
	if err != nil {
		<-p.slots
		return nil, notConnected(err)
	}
	return c, nil
}

// pop returns the connection that was used last, or nil. So connections that the
// load does not need become old and are closed.
func (p *pgPool) pop() (*pgConn, error) {
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

// isClosed reports whether the pool is closed.
func (p *pgPool) isClosed() bool {
	p.lock.Lock()
	defer p.lock.Unlock()
	return p.closed
}

// put returns a connection. One that is in a transaction or has failed is closed.
func (p *pgPool) put(c *pgConn) {
	defer func() { <-p.slots }()
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.closed || c.generation != p.generation.Load() || c.IsClosed() || c.PgConn().TxStatus() != 'I' {
		// Not under the lock: closing a connection to a dead host can take long.
		go c.drop()
		return
	}
	c.since = time.Now()
	p.idle = append(p.idle, c)
}

// invalidate starts a new generation, unless another connection already has.
func (p *pgPool) invalidate(c *pgConn) { p.generation.CompareAndSwap(c.generation, c.generation+1) }

// drop closes a connection without telling the server, which may not answer.
func (c *pgConn) drop() { _ = c.wire.Close() }

// close closes the idle connections; the others are closed when returned.
func (p *pgPool) close() {
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
