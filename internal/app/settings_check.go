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

// variableForm is compiled once, because nearly every command binds the settings
// again at startup.
var variableForm = regexp.MustCompile(`^[A-Z][A-Z0-9_]{0,63}$`)

// optional also accepts an empty value, which turns the setting off.
func optional(check func(string) error) func(string) error {
	return func(text string) error {
		if text == "" {
			return nil
		}
		return check(text)
	}
}

// anything accepts every value, for names that can only be checked by using them.
func anything(string) error { return nil }

// choice accepts a few words, which the error lists.
func choice(allowed ...string) func(string) error {
	return func(text string) error {
		if slices.Contains(allowed, text) {
			return nil
		}
		return fmt.Errorf("want %s", strings.Join(allowed, " or "))
	}
}

// checkAddress requires a numeric port: service names differ between machines.
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

// checkDocuments checks only the form. Only the server needs the credentials, not
// every command that reads settings.
func checkDocuments(text string) error {
	_, err := filestore.OpenLocations(text)
	return err
}

// checkDatabase never repeats the value, because it may contain a password.
func checkDatabase(text string) error {
	_, err := engine.Parse(text)
	return err
}

// checkBaseURL refuses URLs that links cannot be built from. The error does not
// repeat the value, which may contain a password.
func checkBaseURL(text string) error {
	base, err := url.Parse(text)
	if err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Host == "" ||
		base.RawQuery != "" || base.Fragment != "" || base.User != nil || strings.HasSuffix(text, "/") {
		return errors.New("want an address such as https://landfall.example.com, without a slash at the end")
	}
	return nil
}
