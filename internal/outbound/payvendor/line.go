package payvendor

import (
	"context"
	"net/http"
	"sync"

	"landfall"
	"landfall/internal/lib/admission"
)

// adapter speaks one vendor's language.
type adapter interface {
	// ask fetches an instruction once. It answers errMissing when the vendor
	// says that there is none; other failures are those of the courier.
	ask(ctx context.Context, reference string) (answer, error)
}

// answer is what a vendor said.
type answer struct {
	types   []string // the instruction types it can count as
	active  bool
	details landfall.InstructionDetails
}

// How many questions may be under way at one vendor: of everybody, and of one
// organisation. Many organisations must be slow at once before the first limit
// is felt, and none can reach it alone.
const (
	mostAtOnce     = 256
	mostOfOne      = 16
	mostWaitingFor = 64 // questions of one organisation that wait for a place
)

// line is the way to one vendor. Its adapter and connections are shared; what
// could be spoilt by one organisation for the others is kept in lanes.
type line struct {
	vendor  landfall.Vendor
	options Options
	client  *http.Client
	adapter adapter
	// questions bounds those under way. They wait for a quarter of the time limit
	// at most, so that there is time left to answer them; else the wait would be
	// taken for slowness of the vendor.
	questions *admission.Limiter

	mu       sync.Mutex
	lanes    map[string]*lane // by organisation, whose number the operator decides
	refusing bool             // the vendor refuses us, and the operator was told
}

// newLine makes the way to a vendor.
func newLine(vendor landfall.Vendor, options Options, client *http.Client, adapter adapter) *line {
	return &line{
		vendor: vendor, options: options, client: client, adapter: adapter,
		lanes: map[string]*lane{},
		questions: admission.NewLimiter(admission.Limits{
			Capacity: mostAtOnce, Share: mostOfOne, Wait: options.TimeLimit / 4, TenantWaiting: mostWaitingFor, Refusal: errBusy,
		}),
	}
}

// lane gives an organisation's lane, a new one for a newcomer.
func (l *line) lane(organisation string) *lane {
	l.mu.Lock()
	defer l.mu.Unlock()
	found := l.lanes[organisation]
	if found == nil {
		found = newLane(l, organisation)
		l.lanes[organisation] = found
	}
	return found
}

// remember tells the operator, once, that the vendor began to refuse us. That
// is about our credentials, so it is the same for every organisation.
func (l *line) remember(err error) {
	l.mu.Lock()
	refusing := err != nil && isRefusal(err)
	alarm := refusing && !l.refusing
	if refusing || err == nil {
		l.refusing = refusing
	}
	l.mu.Unlock()
	if alarm {
		l.options.Alarm(l.vendor.Code, plain(err))
	}
}
