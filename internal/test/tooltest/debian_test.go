package tooltest_test

import (
	"os/exec"
	"strings"
	"testing"

	"landfall/internal/test/tooltest"
)

func TestSystemProgramsExist(t *testing.T) {
	zsh := tooltest.Debian(t, "zsh")
	output, err := exec.CommandContext(t.Context(), zsh, "-c", "echo $ZSH_NAME").Output()
	if err != nil || strings.TrimSpace(string(output)) != "zsh" {
		t.Errorf("zsh says %q, %v", output, err)
	}
}
