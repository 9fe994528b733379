package main

import (
	"bytes"
	"encoding/gob"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// scriptWorker runs the commands of one script in one process, because starting the program takes
// longer than most commands. Scripts write 'landfall' for it, and 'exec landfall' for a process of
// its own.
type scriptWorker struct {
	process   *exec.Cmd
	requests  *gob.Encoder
	responses *gob.Decoder
	close     func()
}

type workerRequest struct {
	Folder    string
	Variables []string
	Args      []string
}

type workerResponse struct {
	Stdout, Stderr []byte
	Code           int
}

// workerName is the program that runWorker is installed as.
const workerName = "landfall-worker"

// runWorker runs commands until its input ends. It uses files of its own, so that commands see an
// empty standard input.
func runWorker() {
	// A command starts its own program, which is the worker, for a jq program.
	if len(os.Args) > 1 {
		runMain(os.Args[1:], os.Stdout, os.Stderr)
		return
	}
	requests, responses := gob.NewDecoder(os.NewFile(3, "requests")), gob.NewEncoder(os.NewFile(4, "responses"))
	for {
		var request workerRequest
		if requests.Decode(&request) != nil {
			return
		}
		os.Clearenv()
		for _, variable := range request.Variables {
			name, value, _ := strings.Cut(variable, "=")
			_ = os.Setenv(name, value)
		}
		var stdout, stderr bytes.Buffer
		response := workerResponse{Code: -1}
		if err := os.Chdir(request.Folder); err != nil {
			stderr.WriteString(err.Error())
		} else {
			response.Code = runMain(request.Args, &stdout, &stderr)
		}
		response.Stdout, response.Stderr = stdout.Bytes(), stderr.Bytes()
		if responses.Encode(response) != nil {
			return
		}
	}
}

// start starts the process with the first command.
func (w *scriptWorker) start() error {
	if w.process != nil {
		return nil
	}
	requestsOut, requestsIn, err := os.Pipe()
	if err != nil {
		return err
	}
	responsesOut, responsesIn, err := os.Pipe()
	if err != nil {
		return errors.Join(err, requestsOut.Close(), requestsIn.Close())
	}
	w.process = exec.Command(workerName)
	w.process.Env = append(os.Environ(), "GOGC=800")
	w.process.Stderr = os.Stderr
	w.process.ExtraFiles = []*os.File{requestsOut, responsesIn}
	err = w.process.Start()
	w.requests, w.responses = gob.NewEncoder(requestsIn), gob.NewDecoder(responsesOut)
	w.close = func() {
		_ = requestsIn.Close() // ends the process
		_ = w.process.Wait()
		_ = responsesOut.Close()
	}
	return errors.Join(err, requestsOut.Close(), responsesIn.Close())
}

// stop ends the process, if there is one.
func (w *scriptWorker) stop() {
	if w.close != nil {
		w.close()
	}
}

// run runs a command with the folder and the variables of the script, and returns its exit code.
func (w *scriptWorker) run(ts *testscript.TestScript, args []string) int {
	ts.Check(w.start())
	// The library offers no list of the script's variables.
	ts.Check(ts.Exec("env", "-0"))
	variables := strings.Split(strings.TrimSuffix(ts.ReadFile("stdout"), "\x00"), "\x00")
	ts.Check(w.requests.Encode(workerRequest{ts.MkAbs("."), variables, args}))
	var response workerResponse
	ts.Check(w.responses.Decode(&response))
	_, err := ts.Stdout().Write(response.Stdout)
	ts.Check(err)
	_, err = ts.Stderr().Write(response.Stderr)
	ts.Check(err)
	return response.Code
}

// workerOf returns the worker of a script.
func workerOf(ts *testscript.TestScript) *scriptWorker {
	worker, _ := ts.Value(workerName).(*scriptWorker)
	return worker
}

// landfallCommand runs the program and wants it to succeed, or to fail with '!'.
func landfallCommand(ts *testscript.TestScript, neg bool, args []string) {
	if code := workerOf(ts).run(ts, args); (code == exitDone) == neg {
		ts.Fatalf("exit code %d", code)
	}
}

// TestWorkerSeparatesCommands runs commands with different variables and folders in one worker.
func TestWorkerSeparatesCommands(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/worker", RequireExplicitExec: true, Setup: setupWorker,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"landfall": landfallCommand, "exits": exitCommand},
	})
}

// setupWorker gives a script its worker.
func setupWorker(env *testscript.Env) error {
	worker := &scriptWorker{}
	env.Values[workerName] = worker
	env.Defer(worker.stop)
	return nil
}
