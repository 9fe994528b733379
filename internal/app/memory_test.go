package app

import (
	"os"
	"path/filepath"
	"testing"
)

// A program that does not know its container's memory limit is killed when it
// reaches it.
func TestContainerMemoryIsDetected(t *testing.T) {
	const unlimited = "9223372036854771712\n"
	for name, test := range map[string]struct {
		membership string
		files      map[string]string
		want       int64
	}{
		"version 2":               {"0::/\n", map[string]string{"memory.max": "536870912\n"}, 512 << 20},
		"version 2 without limit": {"0::/\n", map[string]string{"memory.max": "max\n"}, 0},
		"version 2 on the host":   {"0::/system.slice/landfall.service\n", map[string]string{"system.slice/landfall.service/memory.max": "268435456\n"}, 256 << 20},
		"a group above":           {"0::/a/b\n", map[string]string{"a/b/memory.max": "max\n", "a/memory.max": "134217728\n"}, 128 << 20},
		"the least counts":        {"0::/a/b\n", map[string]string{"a/b/memory.max": "134217728\n", "a/memory.max": "268435456\n"}, 128 << 20},
		"version 1":               {"9:cpu:/\n4:memory:/docker/x\n0::/\n", map[string]string{"memory/docker/x/memory.limit_in_bytes": "536870912\n", "memory/memory.limit_in_bytes": unlimited}, 512 << 20},
		"version 1 from inside":   {"4:memory:/docker/x\n", map[string]string{"memory/memory.limit_in_bytes": "536870912\n"}, 512 << 20},
		"version 1 together":      {"4:cpu,memory:/\n", map[string]string{"memory/memory.limit_in_bytes": "536870912\n"}, 512 << 20},
		"version 1 without limit": {"4:memory:/\n", map[string]string{"memory/memory.limit_in_bytes": unlimited}, 0},
		"nothing to read":         {"0::/\n", nil, 0},
		"nonsense":                {"x\n0:\n\n", map[string]string{"memory.max": "lots\n"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			membership := filepath.Join(t.TempDir(), "cgroup")
			for file, text := range test.files {
				place := filepath.Join(root, file)
				if err := os.MkdirAll(filepath.Dir(place), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(place, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.WriteFile(membership, []byte(test.membership), 0o644); err != nil {
				t.Fatal(err)
			}
			if got := containerMemory(membership, root); got != test.want {
				t.Errorf("got %d, want %d", got, test.want)
			}
		})
	}
	if got := containerMemory(filepath.Join(t.TempDir(), "missing"), "/"); got != 0 {
		t.Errorf("without control groups: %d", got)
	}
}
