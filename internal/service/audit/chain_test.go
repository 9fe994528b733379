package audit_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"landfall"
	"landfall/internal/service/audit"
	"landfall/internal/store/sqlstore"
)

func open(t *testing.T) *sqlstore.Store {
	t.Helper()
	store, err := sqlstore.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "x.db"), sqlstore.Options{ApplySchema: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return store
}

func appendEntries(t *testing.T, store *sqlstore.Store, times int) {
	t.Helper()
	for range times {
		if err := store.Update(t.Context(), func(tx landfall.Tx) error {
			return tx.AppendAudit(t.Context(), landfall.AuditEntry{Actor: "operator:ada", Action: "a", Subject: "s"})
		}); err != nil {
			t.Fatal(err)
		}
	}
}

// runOnce runs a chainer once from start to finish.
func runOnce(t *testing.T, store *sqlstore.Store, writer *audit.CheckpointWriter, log *slog.Logger) audit.Counts {
	t.Helper()
	worker := audit.New(store, audit.Options{Log: log, Checkpoints: writer, Every: time.Hour})
	ended, end := context.WithCancel(t.Context())
	end()
	worker.Run(ended)
	return worker.Counts()
}

func TestCheckpointsInAFileProveTheChain(t *testing.T) {
	t.Parallel()
	private, public, err := audit.NewKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	key, err := audit.ReadKey(private)
	if err != nil {
		t.Fatal(err)
	}
	open1 := open(t)
	file := filepath.Join(t.TempDir(), "checkpoints")
	var said bytes.Buffer
	log := slog.New(slog.NewJSONHandler(&said, nil))
	writer, err := audit.NewCheckpointWriter(key, file, log)
	if err != nil {
		t.Fatal(err)
	}
	appendEntries(t, open1, 3)
	if counts := runOnce(t, open1, writer, log); counts.Chained != 3 || counts.Checkpoints != 1 || counts.Failures != 0 {
		t.Errorf("%+v", counts)
	}
	appendEntries(t, open1, 2)
	runOnce(t, open1, writer, log)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	found, err := audit.ReadCheckpoints(bytes.NewReader(text))
	if err != nil || len(found) != 2 || found[0].Position != 3 || found[1].Position != 5 {
		t.Fatalf("%+v, %v", found, err)
	}
	reader, err := audit.ReadPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	verdict, err := audit.Verify(t.Context(), open1, audit.Evidence{Checkpoints: found, Public: reader})
	if err != nil || verdict.Problem != "" || verdict.Checkpoints != 2 {
		t.Errorf("%+v, %v", verdict, err)
	}
	// A file that was truncated or restored to an earlier state still verifies,
	// and the verdict shows how far it reaches.
	verdict, err = audit.Verify(t.Context(), open1, audit.Evidence{Checkpoints: found[:1], Public: reader})
	if err != nil || verdict.Problem != "" || verdict.Last.Position != 3 || verdict.Chain.Position != 5 {
		t.Errorf("%+v, %v", verdict, err)
	}
	// Checkpoints whose positions were swapped no longer match their signatures.
	// Two checkpoints with different hashes for one position contradict each
	// other.
	one, two := found[0], found[1]
	one.Position, two.Position = two.Position, one.Position
	verdict, err = audit.Verify(t.Context(), open1, audit.Evidence{Checkpoints: []audit.Checkpoint{one, two}, Public: reader})
	if err != nil || !strings.Contains(verdict.Problem, "not signed with this key") {
		t.Errorf("%+v, %v", verdict, err)
	}
	two = found[1]
	two.Hash = strings.Repeat("0", 64)
	verdict, err = audit.Verify(t.Context(), open1, audit.Evidence{Checkpoints: append(found[:2:2], two)})
	if err != nil || !strings.Contains(verdict.Problem, "contradict each other about position 5") {
		t.Errorf("%+v, %v", verdict, err)
	}
	// A forged checkpoint is reported, and so is one from another database.
	forged := found[1]
	forged.Hash = strings.Repeat("0", 64)
	verdict, err = audit.Verify(t.Context(), open1, audit.Evidence{Checkpoints: []audit.Checkpoint{forged}, Public: reader})
	if err != nil || !strings.Contains(verdict.Problem, "not signed with this key") {
		t.Errorf("%+v, %v", verdict, err)
	}
	other := open(t)
	appendEntries(t, other, 1)
	if verdict, err = audit.Verify(t.Context(), other, audit.Evidence{Checkpoints: found}); err != nil || !strings.Contains(verdict.Problem, "another chain") {
		t.Errorf("%+v, %v", verdict, err)
	}
	if verdict, err = audit.Verify(t.Context(), other, audit.Evidence{}); err != nil || verdict.Unchained != 1 || verdict.Problem != "" {
		t.Errorf("%+v, %v", verdict, err)
	}
	if strings.Contains(said.String(), "shorter") {
		t.Error(said.String())
	}
	// A half-written line, left when the writer was killed, does not damage the
	// lines after it.
	if err := os.WriteFile(file, append(text, []byte(`{"chain":"half`)...), 0o600); err != nil {
		t.Fatal(err)
	}
	appendEntries(t, open1, 1)
	runOnce(t, open1, writer, log)
	spoilt, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	whole := strings.Replace(string(spoilt), `{"chain":"half`+"\n", "", 1)
	if found, err := audit.ReadCheckpoints(strings.NewReader(whole)); err != nil || len(found) != 3 || found[2].Position != 6 {
		t.Errorf("%+v, %v in %s", found, err, spoilt)
	}
	// The log reports a database that is shorter than its last checkpoint.
	longer := strings.Replace(string(text), `"place":5`, `"place":9`, 1)
	if err := os.WriteFile(file, []byte(longer), 0o600); err != nil {
		t.Fatal(err)
	}
	runOnce(t, open1, writer, log)
	if !strings.Contains(said.String(), "audit is shorter than its last checkpoint") {
		t.Error(said.String())
	}
}

func TestCheckpointsAreFoundInALog(t *testing.T) {
	t.Parallel()
	store := open(t)
	appendEntries(t, store, 2)
	var said bytes.Buffer
	log := slog.New(slog.NewJSONHandler(&said, nil))
	log.Info("something else")
	writer, err := audit.NewCheckpointWriter(nil, "", log)
	if err != nil {
		t.Fatal(err)
	}
	runOnce(t, store, writer, log)
	found, err := audit.ReadCheckpoints(&said)
	if err != nil || len(found) != 1 || found[0].Position != 2 {
		t.Fatalf("%+v, %v", found, err)
	}
	if verdict, err := audit.Verify(t.Context(), store, audit.Evidence{Checkpoints: found}); err != nil || verdict.Checkpoints != 1 {
		t.Errorf("%+v, %v", verdict, err)
	}
	for _, broken := range []string{"x", "{}", `{"chain":"a","place":0,"hash":"b"}`} {
		if _, err := audit.ReadCheckpoints(strings.NewReader("\n" + broken)); err == nil || !strings.Contains(err.Error(), "line 2") {
			t.Errorf("%q: %v", broken, err)
		}
	}
}

func TestInvalidKeysAreRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "x", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"} {
		if _, err := audit.ReadKey([]byte(text)); err == nil {
			t.Errorf("%q is a key", text)
		}
		if _, err := audit.ReadPublicKey([]byte(text)); err == nil {
			t.Errorf("%q is a public key", text)
		}
	}
	if _, err := audit.NewCheckpointWriter(nil, filepath.Join(t.TempDir(), "no", "folder"), slog.Default()); err == nil {
		t.Error("checkpoints can be kept nowhere")
	}
}
