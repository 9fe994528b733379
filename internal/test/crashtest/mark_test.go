package crashtest_test

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"net/http"
	"os/exec"
	"time"

	"landfall/internal/test/crashtest"
)

// mark executes an operator's verb with a command, which writes to the database
// beside the servers. Where servers are killed, some commands are too.
func (c *caller) mark(intent crashtest.Intent) (crashtest.Answer, error) {
	patience := 20 * time.Second
	if c.ruthless && rand.IntN(3) == 0 {
		patience = time.Duration(1+rand.IntN(150)) * time.Millisecond
	}
	ctx, cancel := context.WithTimeout(c.t.Context(), patience)
	defer cancel()
	plain := c.command("account", string(intent.Verb), intent.Key.Supplier, intent.Key.External, "--json", "--reason", string(intent.Verb))
	command := exec.CommandContext(ctx, plain.Path, plain.Args[1:]...) // SIGKILL when time is up
	command.Env, command.SysProcAttr = plain.Env, killWithTests
	entry := c.history.Begin(intent)
	output, err := command.CombinedOutput()
	var exit *exec.ExitError
	var said struct {
		Number string `json:"platform_account_number"`
		Error  struct {
			Code string `json:"code"`
		} `json:"error"`
	}
	if err := json.Unmarshal(output, &said); err != nil && len(output) > 0 && ctx.Err() == nil {
		c.t.Errorf("%s %s: %v: %s", intent.Verb, intent.Key.External, err, output)
	}
	answer := crashtest.Answer{Status: http.StatusOK, Number: said.Number, Code: said.Error.Code}
	switch {
	case err == nil:
	case !errors.As(err, &exit) || !exit.Exited():
		return crashtest.Answer{}, err
	case exit.ExitCode() == 1: // refused
		answer.Status = http.StatusBadRequest
	case exit.ExitCode() == 3: // the database is unavailable
		answer.Status = http.StatusServiceUnavailable
	default:
		c.t.Errorf("%s %s: %v: %s", intent.Verb, intent.Key.External, err, output)
		return crashtest.Answer{}, err
	}
	c.history.End(entry, answer)
	return answer, nil
}
