package httpapi

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// A client that was refused before its large body had arrived used to see a
// broken connection instead of the response that says when to retry.
func TestRefusalsOfLargeBodiesAreReceived(t *testing.T) {
	onBoth(t, func(t *testing.T, open openFunc) {
		h := open(func(o *Options) { o.BodyMemory = 1 << 20 })
		h.api.budget = newBudget(1<<20, h.api.BodyLimit, 50*time.Millisecond)
		taken, err := h.api.budget.reserve(t.Context(), "somebody", h.api.BodyLimit)
		if err != nil {
			t.Fatal(err)
		}
		defer taken.release()
		for _, framing := range []string{fmt.Sprintf("Content-Length: %d", h.api.BodyLimit), "Transfer-Encoding: chunked"} {
			conn, err := net.Dial("tcp", h.server.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAuthorization: Token %s\r\n%s\r\n\r\n",
				validatePath, h.tokens["importer"], framing)
			body := strings.Repeat(" ", int(h.api.BodyLimit))
			if strings.HasPrefix(framing, "Transfer") {
				body = fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(body), body)
			}
			if _, err := io.WriteString(conn, body); err != nil {
				t.Errorf("%s: sending: %v", framing, err)
			}
			time.Sleep(time.Second) // longer than the server waits before it closes
			answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Errorf("%s: %v", framing, err)
				continue
			}
			if answer.StatusCode != http.StatusServiceUnavailable || answer.Header.Get("Retry-After") == "" {
				t.Errorf("%s: %d %v", framing, answer.StatusCode, answer.Header)
			}
			_ = answer.Body.Close()
		}
	})
}
