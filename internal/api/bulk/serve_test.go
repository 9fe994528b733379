package bulk_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"landfall"
	"landfall/internal/api/answer"
	"landfall/internal/api/bulk"
	"landfall/internal/service/intake"
	"landfall/internal/service/run"
	"landfall/internal/store/sqlstore"
	"landfall/internal/test/dbtest"
)

// fragile is a payment vendor that panics for some references.
type fragile struct{}

func (fragile) Verify(_ context.Context, _ string, _ landfall.Vendor, instruction landfall.Instruction) (landfall.InstructionDetails, error) {
	if instruction.Reference == "boom" {
		panic("the vendor has a fault")
	}
	return landfall.InstructionDetails{}, nil
}

// recorder is a connection that records what is sent.
type recorder struct{ bytes.Buffer }

func (*recorder) Flush() error                     { return nil }
func (*recorder) SetWriteDeadline(time.Time) error { return nil }

// open returns a service over a real store, and a principal that uses it.
func open(t *testing.T, log io.Writer) (*bulk.Service, landfall.Principal) {
	t.Helper()
	ctx := t.Context()
	store, err := sqlstore.Open(ctx, dbtest.SQLite(t), sqlstore.Options{Server: true, ApplySchema: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	if err := store.Update(ctx, func(tx landfall.Tx) error {
		return errors.Join(tx.CreateOrganisation(ctx, "Acme"), tx.CreateSupplier(ctx, landfall.NewSupplier("NORTH")), tx.Grant(ctx, "NORTH", "Acme"),
			tx.CreateTeam(ctx, "Team"), tx.SaveVendor(ctx, landfall.Vendor{Code: "FRAGILE", Adapter: "sandbox"}))
	}); err != nil {
		t.Fatal(err)
	}
	service := intake.New(store, intake.Options{Verifier: fragile{}})
	return bulk.New(bulk.Options{
		Answers: answer.New(service, run.New(store, service, run.Options{}), nil), LineLimit: 1 << 20, CallTimeout: 10 * time.Second,
		Logger: slog.New(slog.NewTextHandler(log, nil)), Spool: bulk.Spool{Dir: t.TempDir(), MaxBytes: 1 << 30},
	}), landfall.Principal{Organisation: "Acme", Role: landfall.RoleImporter, RequestID: "request"}
}

func serve(t *testing.T, service *bulk.Service, who landfall.Principal, verb *answer.Verb, body io.Reader) (string, bulk.Result) {
	t.Helper()
	line := &recorder{}
	result := service.Serve(t.Context(), bulk.Request{
		Verb: verb, Who: who, Body: body, Writer: line,
		SetReadDeadline: func(time.Time) error { return nil }, Authenticate: func(context.Context) error { return nil },
	})
	return line.String(), result
}

// A panic fails only the line that caused it.
func TestPanicFailsOnlyItsLine(t *testing.T) {
	var log bytes.Buffer
	service, who := open(t, &log)
	_, staged := serve(t, service, who, answer.Stage, strings.NewReader(`{"import_supplier":"NORTH","external_account_number":"1","customers":[{}]}`))
	_, created := serve(t, service, who, answer.Process, strings.NewReader(
		`{"import_supplier_code":"NORTH","external_account_number":"1","operations_team_name":"Team"}`))
	if staged.Statuses[201] != 1 || created.Statuses[201] != 1 {
		t.Fatalf("got %+v and %+v", staged, created)
	}
	var lines strings.Builder
	for i := range 50 {
		reference := fmt.Sprint(i)
		if i == 20 {
			reference = "boom"
		}
		fmt.Fprintf(&lines, `{"import_supplier":"NORTH","external_account_number":"1","vendor":"FRAGILE","reference":"%s","type":"CARD"}`+"\n", reference)
	}
	answers, result := serve(t, service, who, answer.Instruction, strings.NewReader(lines.String()))
	if result.Statuses[201] != 49 || result.Statuses[500] != 1 || result.Stopped != nil || result.Supplier != "NORTH" {
		t.Errorf("got %+v\n%s", result, answers)
	}
	if !strings.Contains(answers, `{"line":21,"status":500,"body":{"detail":"Something went wrong on our side.","code":"internal_error","errors":[]}}`) {
		t.Errorf("got %s", answers)
	}
	if !strings.Contains(log.String(), "line=21") || strings.Contains(log.String(), "has a fault") {
		t.Errorf("the log says %s", log.String())
	}
}

// broken returns some lines and then an error.
type broken struct{ io.Reader }

func (b broken) Read(into []byte) (int, error) {
	n, err := b.Reader.Read(into)
	if errors.Is(err, io.EOF) {
		err = errors.New("the connection broke")
	}
	return n, err
}

// Lines that arrived completely are processed; an incomplete line is not.
func TestTruncatedBody(t *testing.T) {
	service, who := open(t, io.Discard)
	good := `{"import_supplier":"NORTH","external_account_number":"%d","customers":[{}]}` + "\n"
	body := fmt.Sprintf(good, 1) + fmt.Sprintf(good, 2) + `{"import_supplier":"NORTH","external_account_number":"3","customers":[{}]}`
	answers, result := serve(t, service, who, answer.Stage, broken{strings.NewReader(body)})
	if result.Lines != 2 || result.Statuses[201] != 2 || result.Stopped == nil ||
		!strings.HasSuffix(answers, `{"summary":{"lines":2,"statuses":{"201":2},"complete":false,"next_line":3,"error":`+
			`{"detail":"The body is incomplete. Send the lines from next_line on again.","code":"malformed_json","errors":[]}}}`+"\n") {
		t.Errorf("got %+v\n%s", result, answers)
	}
}

// TestBlankLinesSkippedTheQuota sends blank lines between others, and then more of them than anyone
// needs.
func TestBlankLinesSkippedTheQuota(t *testing.T) {
	service, who := open(t, io.Discard)
	line := `{"import_supplier":"NORTH","external_account_number":"1","customers":[{}]}` + "\n"
	var counted atomic.Int64
	send := func(body io.Reader) (string, bulk.Result) {
		counted.Store(0)
		out := &recorder{}
		result := service.Serve(t.Context(), bulk.Request{
			Verb: answer.Stage, Who: who, Body: body, Writer: out,
			SetReadDeadline: func(time.Time) error { return nil }, Authenticate: func(context.Context) error { return nil },
			WaitQuota: func(context.Context) error { counted.Add(1); return nil },
		})
		return out.String(), result
	}
	answers, result := send(strings.NewReader(line + strings.Repeat("\r\n \t\n", 500) + line + "\n"))
	if result.Stopped != nil || result.Lines != 1003 || counted.Load() != 1003 {
		t.Errorf("the quota counted %d lines, %+v\n%s", counted.Load(), result, answers)
	}
	answers, result = send(io.MultiReader(strings.NewReader(line), io.LimitReader(blanks{}, 32_500_000)))
	if result.Stopped == nil || counted.Load() > 1002 || !strings.Contains(answers, `"next_line":1003,"error":{"detail":"More than 1000 blank lines follow each other.`) {
		t.Errorf("the quota counted %d lines, %+v\n%s", counted.Load(), result, answers)
	}
	if result.Statuses[200] != 1 {
		t.Errorf("the line before them was not answered: %+v", result)
	}
}

// blanks is a body of blank lines.
type blanks struct{}

func (blanks) Read(into []byte) (int, error) {
	for i := range into {
		into[i] = '\n'
	}
	return len(into), nil
}
