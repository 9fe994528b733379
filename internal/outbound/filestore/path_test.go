package filestore

import (
	"path"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestResolveCannotLeaveTheRoot checks that every result is below the root, as
// the standard library, a simple store and a decoding proxy would interpret it.
func TestResolveCannotLeaveTheRoot(t *testing.T) {
	piece := rapid.SampledFrom([]string{"..", ".", "/", "//", "a", "north", "north-evil", `\`, "%2e", "%2f", " ", "\x00", "\n", "．．", "~", "s3:", "", "ü", "C:"})
	text := rapid.OneOf(
		rapid.Map(rapid.SliceOfN(piece, 0, 8), func(pieces []string) string { return strings.Join(pieces, "") }),
		rapid.Map(rapid.SliceOfN(piece, 0, 8), func(pieces []string) string { return strings.Join(pieces, "/") }),
		rapid.String(),
	)
	rapid.Check(t, func(t *rapid.T) {
		root, name := text.Draw(t, "root"), text.Draw(t, "path")
		cleanRoot, cleanName, ok := resolve(root, name)
		if !ok {
			return
		}
		if cleanRoot == "" {
			t.Fatal("no root is everybody's root")
		}
		joined := join(cleanRoot, cleanName)
		if path.Clean("/"+joined) != "/"+joined {
			t.Fatalf("%q is not what it seems", joined)
		}
		if strings.ContainsAny(joined, "\\\x00\r\n") || strings.HasPrefix(joined, "/") {
			t.Fatalf("%q is no plain name", joined)
		}
		if want := strings.Trim(root, "/"); want != "" && !strings.HasPrefix(joined, want+"/") {
			t.Fatalf("%q is not below %q", joined, want)
		}
	})
}

// TestResolveAcceptsPlainPaths checks that every path that the API accepts
// resolves, unchanged except for one leading slash.
func TestResolveAcceptsPlainPaths(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		segment := rapid.StringMatching(`[\p{L}\p{N} !#$%&'()+,;=@^_{}~-][\p{L}\p{N} !#$%&'()+,;=@^_{}~.-]{0,12}`)
		name := strings.Join(rapid.SliceOfN(segment, 1, 6).Draw(t, "segments"), "/")
		slash := rapid.SampledFrom([]string{"", "/"}).Draw(t, "slash")
		root := rapid.SampledFrom([]string{"north", "/north/", "a/b"}).Draw(t, "root")
		if _, got, ok := resolve(root, slash+name); !ok || got != name {
			t.Fatalf("%q became %q, %v", name, got, ok)
		}
	})
}
