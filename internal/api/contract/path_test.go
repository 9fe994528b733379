package contract

import (
	"path"
	"strings"
	"testing"
)

func TestGoodPaths(t *testing.T) {
	for _, text := range []string{
		"a", "a.pdf", "/a.pdf", "/etc/x", "a/b/c.pdf", "2024/S-1 (copy).pdf", "100%.pdf", "100%25.pdf", "a%20b.pdf", ".hidden", "..a", "a..b", "a...b/c", "a/.b/c",
		"naïve/straße.pdf", "書類/請求書.pdf", "a~b", "a/~b", "12:30.pdf", "a/b:c", "a@b", "a+b", "a&b=c", "a?b#c", "%", "%zz", "a%", strings.Repeat("a", 1024),
	} {
		if !ValidPath(text) {
			t.Errorf("refused %q", text)
		}
	}
}

// hostilePaths try to leave the root, to name another location, or to be read
// differently by two systems.
var hostilePaths = []string{
	"", "/", "//", "///", ".", "..", "...", "....", "./", "../", "/.", "/..", "/../", "./a", "../a", "/./a", "/../a",
	"a/.", "a/..", "a/./b", "a/../b", "a/../../b", "a/b/../../../c", "a/b/..", "../../etc/passwd", "/../../etc/passwd", "a/...", "a/..../b", "a./b", "a../b", "a/b.", "a/b..", "a.pdf.",
	"//host/x", "///x", "a//b", "a/", "a/b/", "a/b//", "//", "/a//b", "//./x", "//../x",
	`\`, `\\`, `\..\`, `..\`, `..\..\a`, `a\b`, `a\..\b`, `\\host\share`, `\\?\C:\a`, `\\.\pipe\a`, `a/..\b`, `C:\`, `C:\a`, `c:\windows\win.ini`,
	"C:", "C:/a", "c:a", "Z:/", "s3:", "s3://bucket/x", "s3:x", "S3://x", "file:///etc/passwd", "file:a", "http://host/x", "https:x", "gs://b/x", "data:text/plain,x", "javascript:alert(1)", "a+b:c", "a.b:c", "/s3://x", "/C:/a",
	"%2e%2e/", "%2e%2e/a", "%2E%2E/a", "%2e./a", ".%2e/a", "..%2f", "..%2fa", "..%2Fa", "%2e%2e%2fa", "a/%2e%2e/b", "a/%2e/b", "%2e", "%2f", "%2fa%2f", "%2f%2fa", "a%2f%2fb", "a%2f..%2fb", "a/..%5cb", "..%5ca", "%5c", "a%5cb", "%5c%5chost",
	"%252e%252e/a", "%25252e%25252e/a", "%252f%252fa", "..%252fa", "%252e%252e%252fa", "%255c", "a%252f..%252fb", "%c0%ae%c0%ae/a", "%c0%af", "%e0%80%ae", "%00", "a%00.pdf", "a%0a", "a%0d%0ab", "%7e/a", "%7eroot", "C%3a/a", "s3%3a//x", "%73%33:x", "%252500",
	"．．/a", "a/．．/b", "．", "‥/a", "…/a", "a/…/b", "․․/a", "﹒﹒/a", "。。/a", "a／b", "..／a", "a＼b", "%ef%bc%8e%ef%bc%8e/a",
	"~", "~/a", "~root/a", "/~", "/~root",
	"\x00", "a\x00b", "a\x00.pdf", "a\nb", "a\rb", "a\r\nb", "a\tb", "\x1b[31m", "a\x7fb", "a\u0085b", "a\u2028b", "a\u202eb", "a\u200bb", "\ufeffa", "a\u2066b",
	" ", " /a", "a/ /b", "a/ ", ".. /a", " ../a", " . ", "a/ .. /b", "\u00a0", "..\u00a0/a", "\xff", "a\xc0\xafb",
	strings.Repeat("a", 1025), strings.Repeat("é", 513), strings.Repeat("a/", 512) + "..", strings.Repeat("../", 300) + "a",
}

func TestHostilePaths(t *testing.T) {
	if len(hostilePaths) < 120 {
		t.Fatalf("only %d hostile paths", len(hostilePaths))
	}
	for _, text := range hostilePaths {
		if ValidPath(text) {
			t.Errorf("accepted %q", text)
		}
	}
}

func FuzzValidPath(f *testing.F) {
	for _, text := range hostilePaths {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !ValidPath(text) {
			return
		}
		// Joined to a root, the path stays below it, decoded or not.
		for _, form := range []string{text, percentDecoded(text), percentDecoded(percentDecoded(text))} {
			joined := path.Join("/root", form)
			if !strings.HasPrefix(joined, "/root/") || joined != "/root/"+strings.TrimPrefix(form, "/") {
				t.Errorf("%q becomes %q", text, joined)
			}
		}
	})
}
