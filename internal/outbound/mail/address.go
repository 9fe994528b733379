package mail

import (
	"errors"
	"net/mail"
	"strings"

	"golang.org/x/net/idna"
)

// ErrBadAddress means that a mail can never be delivered to its address.
var ErrBadAddress = errors.New("not a deliverable e-mail address")

// ParseAddress parses the address of a sender, with or without a display name.
func ParseAddress(input string) (mail.Address, error) {
	parsed, err := mail.ParseAddress(input)
	if err != nil || parsed.Name != singleLine(parsed.Name) {
		return mail.Address{}, errors.New("want an address such as hello@example.com or Acme <hello@example.com>")
	}
	address, err := asciiDomain(parsed.Address)
	if err != nil || !isASCII(address) {
		return mail.Address{}, errors.New("want an ASCII address such as hello@example.com")
	}
	return mail.Address{Name: parsed.Name, Address: address}, nil
}

// asciiDomain returns the address with its domain in ASCII (punycode), as mail
// servers expect it. The part before the @ belongs to the recipient's server and
// stays unchanged.
func asciiDomain(address string) (string, error) {
	at := strings.LastIndexByte(address, '@')
	if at <= 0 {
		return "", ErrBadAddress
	}
	domain, err := idna.Lookup.ToASCII(address[at+1:])
	if err != nil || strings.Contains("."+domain+".", "..") || strings.ContainsAny(address, "<>\r\n\t \x00\"\\") {
		return "", ErrBadAddress
	}
	return address[:at+1] + domain, nil
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= 0x80 })
}
