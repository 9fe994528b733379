package filestore_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"landfall"
	"landfall/internal/outbound/filestore"
	"landfall/internal/test/tooltest"
)

const (
	present = ""
	missing = landfall.CodeFileMissing
	unknown = landfall.CodeFileStoreUnavailable
	canary  = "CANARY"
)

// check returns the code of a Check. It fails the test if the error contains a
// file name or a secret, or has the wrong kind.
func check(t *testing.T, store *filestore.Store, root, path string) string {
	t.Helper()
	err := store.Check(t.Context(), landfall.Supplier{DocumentRoot: root}, path)
	if err == nil {
		return present
	}
	var known *landfall.Error
	if !errors.As(err, &known) {
		t.Fatalf("not an Error: %v", err)
	}
	if strings.Contains(err.Error()+known.Detail, canary) {
		t.Errorf("a name or a secret is in the error: %v", err)
	}
	if want := map[string]landfall.Kind{missing: landfall.Invalid, unknown: landfall.Unavailable}[known.Code]; known.Kind != want {
		t.Errorf("%s has kind %d", known.Code, known.Kind)
	}
	return known.Code
}

func open(t *testing.T, address string) *filestore.Store {
	t.Helper()
	return openFor(t, address, time.Minute)
}

// openFor opens a store with a time limit.
func openFor(t *testing.T, address string, limit time.Duration) *filestore.Store {
	t.Helper()
	store, err := filestore.Open(address, filestore.Options{TimeLimit: limit})
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// names are documents that a store must find, including unusual names.
var names = []string{
	"bill.pdf", "2024/01/bill 1.pdf", "a+b&c=d.pdf", "50%.pdf", "a%2Fb.pdf", "#1?.pdf", "ünï/日本.pdf", "~x", "...", "..a/b..", "a;b,c'd(e)!*.pdf",
}

// suite checks what every store must answer when "north/" contains names and
// "north-evil/" contains secret.pdf.
func suite(t *testing.T, store *filestore.Store) {
	t.Helper()
	for _, name := range names {
		for _, root := range []string{"north", "/north", "north/", "/north/"} {
			if got := check(t, store, root, name); got != present {
				t.Errorf("%q under %q: %s", name, root, got)
			}
		}
		if got := check(t, store, "north", "/"+name); got != present {
			t.Errorf("/%q: %s", name, got)
		}
		// An empty root must not give access to the files of all suppliers.
		for _, root := range []string{"", "/"} {
			if got := check(t, store, root, "north/"+name); got != unknown {
				t.Errorf("%q without a root: %s", name, got)
			}
		}
		if got := check(t, store, "south", name); got != missing {
			t.Errorf("%q under another root: %q", name, got)
		}
	}
	for _, path := range []string{
		"none.pdf", "2024", "2024/", "2024/01/", "bill.pdf/x", "Bill.pdf", "../north-evil/secret.pdf", "-evil/secret.pdf", "..", ".", "", "/",
		"2024/../bill.pdf", "//bill.pdf", "2024//01/bill 1.pdf", `..\north-evil\secret.pdf`, "bill.pdf\x00", "bill.pdf\n", "bad\xff",
		strings.Repeat("x/", 600) + "x",
	} {
		if got := check(t, store, "north", path); got != missing {
			t.Errorf("%q: %q, want missing", path, got)
		}
	}
	for _, root := range []string{"..", "../north", "north/..", "north/../north-evil", "a//b", `north\`} {
		if got := check(t, store, root, "secret.pdf"); got != missing {
			t.Errorf("root %q: %q", root, got)
		}
	}
}

// TestFolder creates links that lead out of a supplier's folder. Following them
// would let one supplier find out which documents another one has.
func TestFolder(t *testing.T) {
	base := filepath.Join(t.TempDir(), "store")
	put := func(name string) {
		path := filepath.Join(base, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, nil, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range names {
		put("north/" + name)
	}
	put("north-evil/secret.pdf")
	put("../outside.pdf")
	store := open(t, "file://"+base)
	suite(t, store)
	if got := check(t, store, "north", strings.Repeat("y", 300)); got != missing {
		t.Errorf("a name no file system can hold: %q", got)
	}

	for link, target := range map[string]string{
		"out": "../../outside.pdf", "absolute": filepath.Join(base, "../outside.pdf"), "beside": "../north-evil/secret.pdf", "beside-folder": "../north-evil",
	} {
		if err := os.Symlink(target, filepath.Join(base, "north", link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{"out", "absolute", "beside", "beside-folder/secret.pdf"} {
		if got := check(t, store, "north", path); got != unknown {
			t.Errorf("a link that leaves the root: %s is %q", path, got)
		}
	}
	if err := os.Symlink("bill.pdf", filepath.Join(base, "north", "inside")); err != nil {
		t.Fatal(err)
	}
	if got := check(t, store, "north", "inside"); got != present {
		t.Errorf("a link inside the root: %q", got)
	}
	if err := os.Rename(base, base+".away"); err != nil {
		t.Fatal(err)
	}
	if got := check(t, store, "north", "bill.pdf"); got != unknown {
		t.Errorf("with the folder gone: %q", got)
	}
}

// TestNoStore checks documents without a store. The result must not be
// "missing", because callers would then leave the document out.
func TestNoStore(t *testing.T) {
	store := open(t, "")
	if got := check(t, store, "north", "bill.pdf"); got != unknown {
		t.Errorf("got %q", got)
	}
}

// fill stores the documents of the suite in a bucket.
func fill(t *testing.T, server string) {
	t.Helper()
	client, err := minio.New(server, &minio.Options{Creds: credentials.NewStaticV4("landfall", "landfall-secret", ""), Region: "us-east-1"})
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if err = client.MakeBucket(t.Context(), "documents", minio.MakeBucketOptions{Region: "us-east-1"}); err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
	for _, name := range append([]string{"../north-evil/secret.pdf"}, names...) {
		key := strings.TrimPrefix("north/"+name, "north/../")
		if _, err := client.PutObject(t.Context(), "documents", key, strings.NewReader("x"), 1, minio.PutObjectOptions{}); err != nil {
			t.Fatalf("%q: %v", key, err)
		}
	}
}

func setKeys(t *testing.T, id, secret string) {
	t.Helper()
	for _, name := range []string{"AWS_ACCESS_KEY", "AWS_SECRET_KEY", "AWS_SESSION_TOKEN", "MINIO_ACCESS_KEY", "MINIO_SECRET_KEY", "MINIO_ROOT_USER", "MINIO_ROOT_PASSWORD"} {
		t.Setenv(name, "")
	}
	t.Setenv("AWS_ACCESS_KEY_ID", id)
	t.Setenv("AWS_SECRET_ACCESS_KEY", secret)
}

// TestSignedBucket uses a gateway in its own process, which checks every
// signature.
func TestSignedBucket(t *testing.T) {
	tooltest.SkipIfShort(t) // the first run compiles the gateway for minutes
	binary := tooltest.Go(t, "github.com/versity/versitygw/cmd/versitygw", "v1.8.0")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	server := exec.Command(binary, "--access", "landfall", "--secret", "landfall-secret", "--port", address, "--quiet",
		"posix", "--sidecar", t.TempDir(), t.TempDir())
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Process.Kill(); server.Wait() })
	fill(t, address)

	at := func(bucket string) string { return "s3://" + bucket + "?endpoint=http://" + address }
	setKeys(t, "landfall", "landfall-secret")
	suite(t, open(t, at("documents")))
	if got := check(t, open(t, at("no-such-bucket")), "north", "bill.pdf"); got != unknown {
		t.Errorf("without its bucket: %q", got)
	}
	if got := check(t, open(t, at("documents")+"&region=eu-west-2"), "north", "bill.pdf"); got != unknown {
		t.Errorf("signed for another region: %q", got)
	}
	for _, keys := range [][2]string{{"landfall", "CANARY-wrong-secret"}, {"CANARY-stranger", "landfall-secret"}} {
		setKeys(t, keys[0], keys[1])
		store := open(t, at("documents"))
		for _, path := range []string{"bill.pdf", "none.pdf"} {
			if got := check(t, store, "north", path); got != unknown {
				t.Errorf("%s with wrong keys: %q", path, got)
			}
		}
	}
}

// TestMemoryBucket uses another implementation of S3, in this process.
func TestMemoryBucket(t *testing.T) {
	server := httptest.NewServer(gofakes3.New(s3mem.New(), gofakes3.WithLogger(gofakes3.DiscardLog())).Server())
	t.Cleanup(server.Close)
	fill(t, strings.TrimPrefix(server.URL, "http://"))
	setKeys(t, "landfall", "landfall-secret")
	suite(t, open(t, "s3://documents?endpoint="+server.URL))
	if got := check(t, open(t, "s3://no-such-bucket?endpoint="+server.URL), "north", "bill.pdf"); got != unknown {
		t.Errorf("without its bucket: %q", got)
	}
}

// TestBrokenBucket lets a store fail in many ways. No failure may be reported
// as a missing document, and no error may contain a file name or a secret.
func TestBrokenBucket(t *testing.T) {
	setKeys(t, "landfall", canary+"-secret")
	for _, c := range []struct {
		name   string
		answer http.HandlerFunc
	}{
		{"403", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }},
		{"400", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadRequest) }},
		{"301", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "http://127.0.0.1:1/"+canary)
			w.WriteHeader(http.StatusMovedPermanently)
		}},
		{"500", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }},
		{"503", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }},
		{"404 for everything", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) }},
		{"hangs up", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }},
		{"silence", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := httptest.NewServer(c.answer)
			t.Cleanup(server.Close)
			began := time.Now()
			if got := check(t, openFor(t, "s3://documents?endpoint="+server.URL, 2*time.Second), "north", canary+".pdf"); got != unknown {
				t.Errorf("got %q", got)
			}
			if time.Since(began) > 20*time.Second {
				t.Errorf("it took %v", time.Since(began))
			}
		})
	}
	t.Run("unreachable", func(t *testing.T) {
		if got := check(t, open(t, "s3://documents?endpoint=http://127.0.0.1:1"), "north", canary+".pdf"); got != unknown {
			t.Errorf("got %q", got)
		}
	})
}

// TestCallerDisconnects cancels a call while the store is silent. That must not
// count as a failure of the store.
func TestCallerDisconnects(t *testing.T) {
	setKeys(t, "landfall", "landfall-secret")
	entered := make(chan struct{}, 1)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		entered <- struct{}{}
		<-r.Context().Done()
	}))
	t.Cleanup(server.Close)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-entered; cancel() }()
	err := open(t, "s3://documents?endpoint="+server.URL).Check(ctx, landfall.Supplier{DocumentRoot: "north"}, "x")
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestOpenRefuses opens stores with an invalid URL. Otherwise the mistake would
// show only at the first document, in the middle of a migration.
func TestOpenRefuses(t *testing.T) {
	setKeys(t, "", "")
	folder := t.TempDir()
	file := filepath.Join(folder, "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, address := range []string{
		"documents", "/srv/documents", "http://x.example", "s3://", "s3://CANARY:CANARY@documents", "s3://documents/folder", "s3://documents#x",
		"s3://documents?region=x&CANARY=1", "s3://documents?endpoint=ftp://x", "s3://documents?endpoint=http://CANARY:CANARY@x", "s3://documents?endpoint=x",
		"s3://documents?endpoint=http://x/path", "s3://Docu_ments?credentials=iam", "s3://documents?credentials=CANARY",
		"s3://documents", // without credentials
		"file://relative/folder", "file:relative", "file://" + file, "file://" + folder + "/none", "file://" + folder + "?x=1",
	} {
		_, err := filestore.Open(address, filestore.Options{})
		if err == nil {
			t.Errorf("%q was accepted", address)
		} else if strings.Contains(err.Error(), canary) {
			t.Errorf("%q is echoed: %v", address, err)
		}
	}
	for _, address := range []string{"", "file://" + folder, "file://" + folder + "/", "s3://documents?credentials=iam"} {
		if _, err := filestore.Open(address, filestore.Options{}); err != nil {
			t.Errorf("%q: %v", address, err)
		}
	}
}

// TestLocation checks the locations of documents. Special characters in a name
// must lead to the same file, and a path that leaves the root has no location.
func TestLocation(t *testing.T) {
	setKeys(t, "landfall", "landfall-secret")
	folder := t.TempDir()
	for _, c := range []struct{ address, root, path, want string }{
		{"", "north", "a/b.pdf", "north/a/b.pdf"},
		{"", "", "/a.pdf", ""},
		{"s3://documents", "north", "a/b.pdf", "s3://documents/north/a/b.pdf"},
		{"s3://documents/", "/north/", "/a/b.pdf", "s3://documents/north/a/b.pdf"},
		{"s3://documents?endpoint=http://store:9000", "north", "50% #1.pdf", "s3://documents/north/50% #1.pdf"},
		{"file://" + folder, "north", "50% #1.pdf", "file://" + folder + "/north/50%25%20%231.pdf"},
		{"file://" + folder + "/", "/", "a.pdf", ""},
		{"s3://documents", "north", "../x", ""},
		{"s3://documents", "../north", "x", ""},
		{"s3://documents", "north", "//host/x", ""},
	} {
		if got := open(t, c.address).Location(landfall.Supplier{DocumentRoot: c.root}, c.path); got != c.want {
			t.Errorf("%q %q %q: %q, want %q", c.address, c.root, c.path, got, c.want)
		}
	}
	if got := open(t, "file://"+folder).Location(landfall.Supplier{DocumentRoot: "ö"}, "ü x?.pdf"); strings.HasPrefix(got, "file://") {
		parsed, err := url.Parse(got)
		if err != nil || parsed.Path != folder+"/ö/ü x?.pdf" {
			t.Errorf("%q reads as %+v (%v)", got, parsed, err)
		}
	}
}
