package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
)

// bareServerArgument makes this program the bare server, in a process of its own.
const bareServerArgument = "bare-server"

// measureValidate compares validation with a server that does nothing but
// decode the same JSON and send it back.
func measureValidate(ctx context.Context, p plan, m *machinery) (result, error) {
	s, err := m.start(ctx, m.sqlite("validate"))
	if err != nil {
		return result{}, err
	}
	defer s.stop()
	bare, err := startBare(ctx)
	if err != nil {
		return result{}, err
	}
	defer bare.stop()
	ratio, ours, raw, err := alternate(p.rounds,
		func() (float64, error) {
			return s.load("/v1/data-import/validate-account/", account).run(ctx, p.length)
		},
		func() (float64, error) { return bare.load("/", account).run(ctx, p.length) })
	return result{ratio: ratio, ours: perSecond(ours, "accounts"), raw: perSecond(raw, "decoded by a bare server")}, err
}

func startBare(ctx context.Context) (*service, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	s := &service{address: address, command: exec.CommandContext(ctx, program, bareServerArgument, address)}
	s.command.Stderr = os.Stderr
	if err := s.command.Start(); err != nil {
		return nil, err
	}
	return s, waitFor(ctx, "http://"+address+"/")
}

// serveBare is what one would write in five minutes: net/http and encoding/json.
func serveBare() {
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, "unreadable", http.StatusBadRequest)
			return
		}
		var decoded any
		if err := json.Unmarshal(body, &decoded); err != nil {
			http.Error(w, "not JSON", http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		_, _ = w.Write(body)
	})
	if err := http.ListenAndServe(os.Args[2], handler); err != nil {
		panic(err)
	}
}
