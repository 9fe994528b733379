package httpapi

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"landfall"
	"landfall/internal/lib/admission"
)

// inBulkPath returns the bulk path of a single path.
func inBulkPath(single string) string {
	return strings.Replace(single, importPath, importPath+"/bulk", 1)
}

// asLines sets the content type of newline-delimited JSON.
func asLines(r *http.Request) { r.Header.Set("Content-Type", "application/x-ndjson") }

// linesWhere returns asLines for bulk paths, and a function that does nothing
// for others.
func linesWhere(path string) func(*http.Request) {
	if strings.HasPrefix(path, importPath+"/bulk/") {
		return asLines
	}
	return func(*http.Request) {}
}

// answerLine is a line of a bulk response.
type answerLine struct {
	Line    int64           `json:"line"`
	Status  int             `json:"status"`
	Body    json.RawMessage `json:"body"`
	Summary *struct {
		Lines    int64            `json:"lines"`
		Statuses map[string]int64 `json:"statuses"`
		Complete bool             `json:"complete"`
		NextLine int64            `json:"next_line"`
		Error    struct {
			Code   string `json:"code"`
			Detail string `json:"detail"`
		} `json:"error"`
	} `json:"summary"`
}

// inLines parses a bulk response. The last line is the summary.
func inLines(t testing.TB, body string) []answerLine {
	t.Helper()
	var answers []answerLine
	for line := range strings.Lines(body) {
		var one answerLine
		if err := json.Unmarshal([]byte(line), &one); err != nil || !strings.HasSuffix(line, "\n") {
			t.Fatalf("%q is no line of an answer: %v", line, err)
		}
		answers = append(answers, one)
	}
	if len(answers) == 0 || answers[len(answers)-1].Summary == nil {
		t.Fatalf("there is no summary: %.500s", body)
	}
	return answers
}

// send sends lines and returns their results, and the summary.
func (h *testAPI) send(path, body string, adjust ...func(*http.Request)) ([]answerLine, answerLine) {
	h.t.Helper()
	got := h.call("importer", "POST", inBulkPath(path), body, append([]func(*http.Request){asLines}, adjust...)...)
	if got.status != 200 || got.header.Get("Content-Type") != "application/x-ndjson" {
		h.t.Fatalf("got %d %s", got.status, got.body)
	}
	all := inLines(h.t, got.body)
	return all[:len(all)-1], all[len(all)-1]
}

// The example responses are what the service returns, sent in the order of the
// page.
func TestBulkExamplesMatchResponses(t *testing.T) {
	h := openDemo(t)
	shown := shownExamples(t)
	for _, r := range routeTable() {
		if !r.bulk {
			continue
		}
		var request, want string
		if json.Unmarshal([]byte(shown[r.doc.id]), &request) != nil || json.Unmarshal([]byte(shown[r.doc.id+" 200"]), &want) != nil {
			t.Fatalf("%s shows nothing", r.doc.id)
		}
		got := h.call("importer", "POST", r.path, request, asLines)
		if unstable.ReplaceAllString(got.body, "…") != unstable.ReplaceAllString(want, "…") {
			t.Errorf("%s\nanswers %s\nshows   %s", r.doc.id, got.body, want)
		}
	}
}

// A line about another organisation's supplier gets the same result as one
// about a supplier that does not exist, like a single call.
func TestLinesAreCheckedByOrganisation(t *testing.T) {
	h := newTestAPI(t)
	h.create("importer", "OURS", "there")
	h.create("other", "THEIRS", "there")
	h.tokens["garbage"] = "garbage"
	for _, r := range routeTable() {
		if !r.bulk {
			continue
		}
		id := strings.ToLower(r.doc.id[4:5]) + r.doc.id[5:]
		row := tenancy[id]
		line := func(supplier string) string {
			return strings.ReplaceAll(strings.Join(strings.Fields(row.body), " "), "{S}", supplier)
		}
		for _, who := range []string{"", "garbage"} {
			if got := h.call(who, "POST", r.path, line("OURS"), asLines); got.status != 401 {
				t.Errorf("%s with token %q: %d %s", id, who, got.status, got.body)
			}
		}
		if got := h.call("viewer", "POST", r.path, line("OURS"), asLines); r.access == writeAccess && got.code() != "permission_denied" {
			t.Errorf("%s as a viewer: %d %s", id, got.status, got.body)
		}
		answers, _ := h.send(row.path, line("THEIRS")+"\n"+line("NONE"))
		single := h.call("importer", "POST", row.path, line("NONE"))
		for _, got := range answers {
			if got.Status != single.status || string(got.Body) != single.body {
				t.Errorf("%s line %d: %d %s, alone %d %s", id, got.Line, got.Status, got.Body, single.status, single.body)
			}
		}
	}
}

// TestLinesAreSplitAndNumbered sends lines as they occur in files. A line number
// that is off by one would point to the wrong account.
func TestLinesAreSplitAndNumbered(t *testing.T) {
	h := newTestAPI(t, func(o *Options) { o.BodyLimit = 1 << 10 })
	long := accountJSON("OURS", strings.Repeat("x", 100)) + strings.Repeat(" ", 2<<10)
	type want map[int64]int
	for name, c := range map[string]struct {
		body string
		want want
		last int64
	}{
		"nothing":                 {"", want{}, 0},
		"only blanks":             {"\n \t \r\n\n", want{}, 3},
		"no line feed at the end": {accountJSON("OURS", "1"), want{1: 200}, 1},
		"CR LF":                   {accountJSON("OURS", "1") + "\r\n" + accountJSON("OURS", "2") + "\r\n", want{1: 200, 2: 200}, 2},
		"byte order mark":         {"\ufeff" + accountJSON("OURS", "1") + "\n\ufeff" + accountJSON("OURS", "1"), want{1: 200, 2: 400}, 2},
		"blank lines count":       {"\n" + accountJSON("OURS", "1") + "\n\n\n{}\n\n", want{2: 200, 5: 400}, 6},
		"a line that is too long": {long + "\n" + accountJSON("OURS", "1") + "\n" + long, want{1: 413, 2: 200, 3: 413}, 3},
		"as long as may be": {strings.Repeat(" ", 1<<10-len(accountJSON("OURS", "1"))) + accountJSON("OURS", "1") + "\r\n " +
			strings.Repeat(" ", 1<<10-len(accountJSON("OURS", "1"))) + accountJSON("OURS", "1"), want{1: 200, 2: 413}, 2},
		"no JSON": {"hello\n[]\n5\n{\"a\":1,\"a\":2}\n\xff\n", want{1: 400, 2: 400, 3: 400, 4: 400, 5: 400}, 5},
	} {
		t.Run(name, func(t *testing.T) {
			answers, summary := h.send(validatePath, c.body)
			got := want{}
			for _, one := range answers {
				got[one.Line] = one.Status
			}
			if fmt.Sprint(got) != fmt.Sprint(c.want) || summary.Summary.Lines != c.last || !summary.Summary.Complete {
				t.Errorf("got %v and %+v, want %v and %d lines", got, summary.Summary, c.want, c.last)
			}
		})
	}
}

// TestLinesMayBeCompressed sends compressed lines, complete and truncated. The end
// of a truncated file looks like the end of a file, and the rest would be
// missing without notice.
func TestLinesMayBeCompressed(t *testing.T) {
	h := newTestAPI(t)
	var lines strings.Builder
	for i := range 5000 {
		lines.WriteString(accountJSON("OURS", fmt.Sprint(i)) + "\n")
	}
	var zipped, second bytes.Buffer
	writer := gzip.NewWriter(&zipped)
	fmt.Fprint(writer, lines.String())
	writer.Close()
	packer, err := zstd.NewWriter(&second)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(packer, lines.String())
	packer.Close()
	for encoding, body := range map[string]string{"gzip": zipped.String(), "zstd": second.String(), "GZIP": zipped.String(), "identity": lines.String()} {
		answers, summary := h.send(validatePath, body, func(r *http.Request) { r.Header.Set("Content-Encoding", encoding) })
		if len(answers) != 5000 || !summary.Summary.Complete {
			t.Errorf("%s: %d answers and %+v", encoding, len(answers), summary.Summary)
		}
		cut := body[:len(body)/2]
		if encoding == "identity" {
			continue
		}
		_, summary = h.send(validatePath, cut, func(r *http.Request) { r.Header.Set("Content-Encoding", encoding) })
		if summary.Summary.Complete || summary.Summary.Error.Code != "malformed_json" || summary.Summary.NextLine != summary.Summary.Lines+1 ||
			!strings.Contains(summary.Summary.Error.Detail, "truncated") {
			t.Errorf("half of it in %s: %+v", encoding, summary.Summary)
		}
		// It used to be called truncated, and was compressed and sent again for nothing.
		answers, summary = h.send(validatePath, body+"junk", func(r *http.Request) { r.Header.Set("Content-Encoding", encoding) })
		if len(answers) != 5000 || summary.Summary.Complete || summary.Summary.NextLine != 5001 ||
			!strings.Contains(summary.Summary.Error.Detail, "behind the end") {
			t.Errorf("junk behind it in %s: %+v", encoding, summary.Summary)
		}
	}
	var wide bytes.Buffer
	if packer, err = zstd.NewWriter(&wide, zstd.WithWindowSize(16<<20), zstd.WithEncoderConcurrency(1)); err != nil {
		t.Fatal(err)
	}
	for wide.Len() == 0 { // until the window is full, because a short stream declares no more than its length
		fmt.Fprint(packer, lines.String())
	}
	packer.Close()
	_, summary := h.send(validatePath, wide.String(), func(r *http.Request) { r.Header.Set("Content-Encoding", "zstd") })
	if summary.Summary.Complete || summary.Summary.Error.Code != "payload_too_large" || !strings.Contains(summary.Summary.Error.Detail, "--long") {
		t.Errorf("a window of 16 MiB: %+v", summary.Summary)
	}
	answers, summary := h.send(validatePath, "no gzip at all", func(r *http.Request) { r.Header.Set("Content-Encoding", "gzip") })
	if len(answers) != 0 || summary.Summary.Complete || summary.Summary.NextLine != 1 {
		t.Errorf("what is not packed: %+v", summary.Summary)
	}
}

// A small body that expands to a huge one is refused.
func TestDecompressionIsBounded(t *testing.T) {
	h := newTestAPI(t)
	for name, pack := range map[string]func(io.Writer) io.WriteCloser{
		"gzip": func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) },
		"zstd": func(w io.Writer) io.WriteCloser { packed, _ := zstd.NewWriter(w); return packed },
	} {
		var bomb bytes.Buffer
		writer := pack(&bomb)
		// No line is too long, and no two blank lines follow each other.
		lines := bytes.Repeat([]byte("0"+strings.Repeat(" ", 1<<16)+"\n"), 1<<4)
		for range 96 {
			_, _ = writer.Write(lines)
		}
		writer.Close()
		_, summary := h.send(validatePath, bomb.String(), func(r *http.Request) { r.Header.Set("Content-Encoding", name) })
		if summary.Summary.Complete || summary.Summary.Error.Code != "payload_too_large" || summary.Summary.Lines > 64<<20 {
			t.Errorf("%s: %d bytes: %+v", name, bomb.Len(), summary.Summary)
		}
	}
}

// TestOnlyJSONLinesAreAccepted sends bodies that are not lines of JSON.
// Otherwise each of a million lines would be refused, instead of the whole
// request at once.
func TestOnlyJSONLinesAreAccepted(t *testing.T) {
	h := newTestAPI(t)
	for _, media := range []string{"application/x-ndjson", "application/jsonl", "Application/JSONL; charset=UTF-8"} {
		got := h.call("importer", "POST", inBulkPath(validatePath), accountJSON("OURS", "1"), func(r *http.Request) { r.Header.Set("Content-Type", media) })
		if got.status != 200 {
			t.Errorf("%s: %d %s", media, got.status, got.body)
		}
	}
	for _, header := range [][2]string{
		{"Content-Type", "application/json"}, {"Content-Type", "text/plain"}, {"Content-Type", "application/x-ndjson; charset=latin1"},
		{"Content-Encoding", "br"}, {"Content-Encoding", "gzip, zstd"}, {"Content-Encoding", "deflate"},
	} {
		got := h.call("importer", "POST", inBulkPath(validatePath), accountJSON("OURS", "1"), asLines,
			func(r *http.Request) { r.Header.Set(header[0], header[1]) })
		if got.status != 415 {
			t.Errorf("%v: %d %s", header, got.status, got.body)
		}
	}
}

// Results arrive while lines are still being sent.
func TestAnswersArriveWhileLinesAreSent(t *testing.T) {
	h := newTestAPI(t)
	read, write := io.Pipe()
	request, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, h.server.URL+inBulkPath(stagePath), read)
	asLines(request)
	request.Header.Set("Authorization", "Token "+h.tokens["importer"])
	go fmt.Fprintln(write, accountJSON("OURS", "1"))
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	lines := json.NewDecoder(response.Body)
	for number := int64(1); number <= 3; number++ {
		var got answerLine
		if err := lines.Decode(&got); err != nil || got.Line != number || got.Status != 201 {
			t.Fatalf("line %d: %+v, %v", number, got, err)
		}
		if number < 3 {
			fmt.Fprintln(write, accountJSON("OURS", fmt.Sprint(number+1)))
		}
	}
	write.Close()
	var last answerLine
	if err := lines.Decode(&last); err != nil || last.Summary == nil || last.Summary.Lines != 3 {
		t.Errorf("at last %+v, %v", last, err)
	}
}

// Revoking a key ends a stream in progress.
func TestStreamEndsWithItsKey(t *testing.T) {
	h := newTestAPI(t)
	key := h.addKey("short", "ours", landfall.RoleImporter)
	read, write := io.Pipe()
	defer write.Close()
	request, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, h.server.URL+inBulkPath(validatePath), read)
	asLines(request)
	request.Header.Set("Authorization", "Token "+h.tokens["short"])
	go fmt.Fprintln(write, accountJSON("OURS", "1"))
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	ctx := t.Context()
	if err := h.store.Update(ctx, func(tx landfall.Tx) error { return tx.RevokeKey(ctx, key) }); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	lines := json.NewDecoder(response.Body)
	var first, last answerLine
	if lines.Decode(&first) != nil || lines.Decode(&last) != nil || last.Summary == nil {
		t.Fatalf("got %+v and %+v", first, last)
	}
	if last.Summary.Complete || last.Summary.NextLine != 2 || last.Summary.Error.Code != "authentication_failed" || time.Since(began) > soon {
		t.Errorf("after %s: %+v", time.Since(began), last.Summary)
	}
}

// The number of concurrent bulk requests of an organisation is limited.
func TestStreamsAreBounded(t *testing.T) {
	h := newTestAPI(t)
	h.api.streams = admission.NewLimiter(admission.Limits{Capacity: streamsAll, Share: streamsEach, Wait: 10 * time.Millisecond, Refusal: errAllStreams, ShareRefusal: errOwnStreams})
	var writers []*io.PipeWriter
	for range streamsEach {
		read, write := io.Pipe()
		writers = append(writers, write)
		request, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, h.server.URL+inBulkPath(validatePath), read)
		asLines(request)
		request.Header.Set("Authorization", "Token "+h.tokens["importer"])
		go fmt.Fprintln(write, accountJSON("OURS", "1"))
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
	}
	got := h.call("importer", "POST", inBulkPath(validatePath), accountJSON("OURS", "1"), asLines)
	if got.status != 429 || got.header.Get("Retry-After") == "" {
		t.Errorf("one too many: %d %s", got.status, got.body)
	}
	if got := h.call("other", "POST", inBulkPath(validatePath), accountJSON("THEIRS", "1"), asLines); got.status != 200 {
		t.Errorf("the neighbour: %d %s", got.status, got.body)
	}
	for _, write := range writers {
		write.Close()
	}
}
