package app

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"landfall/internal/outbound/filestore"
	"landfall/internal/store/engine"
)

// variableForm is compiled once: settings are bound again for every command that
// has them as flags, which are nearly all, whenever the program starts.
var variableForm = regexp.MustCompile(`^[A-Z][A-Z0-9_]{0,63}$`)

// optional lets a setting be empty, which means that it is off.
func optional(check func(string) error) func(string) error {
	return func(text string) error {
		if text == "" {
			return nil
		}
		return check(text)
	}
}

// anything is for names that only their use can prove wrong.
func anything(string) error { return nil }

// choice allows a few words, which the refusal lists.
func choice(allowed ...string) func(string) error {
	return func(text string) error {
		if slices.Contains(allowed, text) {
			return nil
		}
		return fmt.Errorf("want %s", strings.Join(allowed, " or "))
	}
}

// checkAddress wants a port that is a number: names of services differ from
// machine to machine.
func checkAddress(text string) error {
	_, port, err := net.SplitHostPort(text)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return errors.New("want an address such as 127.0.0.1:8080")
	}
	return nil
}

// checkDocuments looks at the form alone: whether there are credentials for it
// is a question for the server, not for every command that reads settings.
func checkDocuments(text string) error {
	_, err := filestore.OpenLocations(text)
	return err
}

// checkDatabase never repeats the value: it may hold a password.
func checkDatabase(text string) error {
	_, err := engine.Parse(text)
	return err
}

// checkBaseURL refuses what links could not be made of. The sentence does not
// repeat the value, which may hold a password.
func checkBaseURL(text string) error {
	base, err := url.Parse(text)
	if err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Host == "" ||
		base.RawQuery != "" || base.Fragment != "" || base.User != nil || strings.HasSuffix(text, "/") {
		return errors.New("want an address such as https://landfall.example.com, without a slash at the end")
	}
	return nil
}
