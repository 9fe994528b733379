package target

import (
	"cmp"
	"crypto/hmac"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"landfall/internal/lib/limits"
	"landfall/internal/outbound/delivery"
)

// ServerOptions configures a Server.
type ServerOptions struct {
	Folder      *os.Root
	Secret      []byte // nil: signatures are not checked
	Slow        time.Duration
	RefuseEvery int // refuses one of every N accounts, by its number; 0: none
	FailEvery   int // answers every so many requests with 503; 0: none
	Pending     bool
}

// Server is a small target. It stores each account as a file, with everything that
// was posted to it in order, and does each delivery once by its idempotency key.
type Server struct {
	options ServerOptions

	requests atomic.Int64
	accounts [1024]sync.Mutex // by number
}

// NewServer returns a target over a folder.
func NewServer(options ServerOptions) *Server {
	return &Server{options: options}
}

// storedAccount is a file of the folder.
type storedAccount struct {
	Number   string          `json:"number"`
	TargetID string          `json:"target_id"`
	Keys     map[string]int  `json:"keys"` // idempotency keys that were done, with their status
	Account  json.RawMessage `json:"account"`
	Postings []storedPosting `json:"postings"`
	Deleted  bool            `json:"deleted,omitempty"`
}

type storedPosting struct {
	Kind string          `json:"kind"`
	Key  string          `json:"key"`
	Body json.RawMessage `json:"body"`
}

// ServeHTTP does one delivery.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limits.ShapeFrame))
	if err != nil {
		reply(w, http.StatusRequestEntityTooLarge, "the body is too large")
		return
	}
	if s.options.Secret != nil && !signed(r, s.options.Secret, body) {
		reply(w, http.StatusUnauthorized, "the signature is wrong")
		return
	}
	if s.fails(r) {
		reply(w, http.StatusServiceUnavailable, "try again")
		return
	}
	number, list, ok := readPath(r)
	key := r.Header.Get("Idempotency-Key")
	switch {
	case !ok:
		reply(w, http.StatusNotFound, "there is no such path")
	case key == "":
		reply(w, http.StatusBadRequest, "there is no Idempotency-Key")
	case r.Method != http.MethodDelete && !json.Valid(body):
		reply(w, http.StatusBadRequest, "the body is not JSON")
	case s.refuses(number):
		reply(w, http.StatusUnprocessableEntity, "this target refuses the account")
	default:
		s.store(w, r.Method, number, list, key, body)
	}
}

// signed reports whether a request was signed with a secret in the last minutes.
func signed(r *http.Request, secret, body []byte) bool {
	seconds, err := strconv.ParseInt(r.Header.Get("Webhook-Timestamp"), 10, 64)
	at := time.Unix(seconds, 0)
	if err != nil || time.Since(at).Abs() > limits.TargetSignature {
		return false
	}
	want := delivery.Sign(secret, r.Header.Get("Webhook-Id"), at, body)
	for got := range strings.FieldsSeq(r.Header.Get("Webhook-Signature")) {
		if hmac.Equal([]byte(got), []byte(want)) {
			return r.Header.Get("Webhook-Id") == r.Header.Get("Idempotency-Key")
		}
	}
	return false
}

// fails waits and decides whether this request fails, as the settings say.
func (s *Server) fails(r *http.Request) bool {
	if s.options.Slow > 0 {
		select {
		case <-time.After(s.options.Slow):
		case <-r.Context().Done():
		}
	}
	count := s.requests.Add(1)
	return s.options.FailEvery > 0 && count%int64(s.options.FailEvery) == 0
}

// refuses decides by the last digits of a number, so that a refused account stays so.
func (s *Server) refuses(number string) bool {
	if s.options.RefuseEvery == 0 {
		return false
	}
	return sum(number)%s.options.RefuseEvery == 0
}

// sum is a number that depends on a text only.
func sum(text string) (total int) {
	for _, c := range []byte(text) {
		total = (total*31 + int(c)) % 1_000_003
	}
	return total
}

// readPath splits /…/accounts/NUMBER and /…/accounts/NUMBER/LIST.
func readPath(r *http.Request) (number, list string, ok bool) {
	_, rest, found := strings.Cut(r.URL.Path, "/accounts/")
	number, list, _ = strings.Cut(rest, "/")
	known := list == "notes" || list == "transactions" || list == "statements" || list == "payment-instructions"
	allowed := r.Method == http.MethodPost && known || list == "" && (r.Method == http.MethodPut || r.Method == http.MethodDelete)
	return number, list, found && allowed && number != "" && !strings.ContainsAny(number, `/\.`)
}

// store does a delivery, unless it was done before.
func (s *Server) store(w http.ResponseWriter, method, number, list, key string, body []byte) {
	lock := &s.accounts[sum(number)%len(s.accounts)]
	lock.Lock()
	defer lock.Unlock()
	account, err := s.read(number)
	exists := err == nil && !account.Deleted
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		reply(w, http.StatusInternalServerError, "the account cannot be read")
		return
	}
	if status, done := account.Keys[key]; done {
		s.done(w, status, account)
		return
	}
	status := http.StatusOK
	switch {
	case method == http.MethodPut && exists:
		status = http.StatusConflict
	case method == http.MethodPut:
		account = storedAccount{Number: number, TargetID: "T-" + number, Account: body, Keys: account.Keys}
		status = http.StatusCreated
	case !exists:
		reply(w, http.StatusNotFound, "there is no such account")
		return
	case method == http.MethodDelete:
		account = storedAccount{Number: number, Keys: account.Keys, Deleted: true}
	default:
		account.Postings = append(account.Postings, storedPosting{list, key, body})
		status = http.StatusCreated
	}
	if account.Keys == nil {
		account.Keys = map[string]int{}
	}
	account.Keys[key] = status
	if err := s.write(number, account); err != nil {
		reply(w, http.StatusInternalServerError, "the account cannot be stored")
		return
	}
	s.done(w, status, account)
}

// done answers a delivery that is stored.
func (s *Server) done(w http.ResponseWriter, status int, account storedAccount) {
	answer := map[string]any{"target_id": account.TargetID}
	if s.options.Pending && status == http.StatusCreated {
		status, answer["pending"] = http.StatusAccepted, true
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(answer) //nolint:errchkjson // the caller is gone if it fails
}

func reply(w http.ResponseWriter, status int, text string) {
	http.Error(w, text, status)
}

// file is where an account is stored: a thousand folders, so that none gets too long.
func file(number string) string {
	return filepath.Join(fmt.Sprintf("%03s", number[max(0, len(number)-3):]), number+".json")
}

func (s *Server) read(number string) (account storedAccount, err error) {
	text, err := s.options.Folder.ReadFile(file(number))
	if err == nil {
		err = json.Unmarshal(text, &account)
	}
	return account, err
}

// write stores an account so that a crash leaves the old or the new one.
func (s *Server) write(number string, account storedAccount) error {
	text, err := json.Marshal(account)
	if err != nil {
		return err
	}
	name := file(number)
	if err := s.options.Folder.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	temporary, err := s.options.Folder.OpenFile(name+".new", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = temporary.Write(text)
	if err = cmp.Or(err, temporary.Sync(), temporary.Close()); err != nil {
		return err
	}
	return s.options.Folder.Rename(name+".new", name)
}
