package app_test

import (
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"landfall"
)

// Pages, their styles and scripts are compressed on the wire, and are the same without it.
func TestConsoleIsCompressed(t *testing.T) {
	w := newWorld(t, databases["sqlite"](t), nil)
	ada := w.operatorBrowser(t, "ada", landfall.ConsoleAdministrator)
	_, page := ada.get("")
	paths := append(regexp.MustCompile(`/console/assets/[^"]+`).FindAllString(page, -1), "/console/", "/console/admin/")
	if len(paths) < 5 {
		t.Fatalf("only %v", paths)
	}
	for _, path := range paths {
		sizes := map[string]int{}
		for _, coding := range []string{"gzip, br", "gzip;q=0", "identity"} {
			request, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, w.server.URL+path, nil)
			request.Header.Set("Accept-Encoding", coding)
			answer, err := ada.client.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(answer.Body)
			answer.Body.Close()
			if want := map[string]string{"gzip, br": "gzip"}[coding]; err != nil || answer.StatusCode != http.StatusOK || answer.Header.Get("Content-Encoding") != want ||
				!strings.Contains(answer.Header.Get("Vary"), "Accept-Encoding") {
				t.Errorf("%s with %q: %d, %v, %v", path, coding, answer.StatusCode, answer.Header, err)
			}
			sizes[coding] = len(body)
		}
		if !strings.HasSuffix(path, ".svg") && sizes["gzip, br"] > sizes["identity"]*2/3 {
			t.Errorf("%s: %v", path, sizes)
		}
	}
}
