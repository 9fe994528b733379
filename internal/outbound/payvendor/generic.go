package payvendor

import (
	"context"
	"errors"
	"net/http"
	"net/textproto"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"landfall"
)

// generic asks any vendor that answers a GET with JSON, after a description in
// its settings.
type generic struct {
	inquiry                       inquiry
	before, after                 string // of the reference in the path
	id, status, kind              pointer
	scheme, digits                pointer
	expires, expiryYear, expiryMo pointer
	active                        []string
	types                         []string            // all it can be, when the reply does not tell
	kinds                         map[string][]string // the reply's words for our types
}

// Headers that operators may set for their vendor. Those that look like a secret
// are refused with the advice to use the variable, or the secret would be in the
// database; our own would be contradicted.
var (
	headerForm = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9-]{0,63}$`)
	valueForm  = regexp.MustCompile(`^[ -~]{0,512}$`)
	secretName = regexp.MustCompile(`(?i)authori[sz]ation|key|token|secret|password|cookie`)
	ownHeaders = []string{"Host", "Content-Length", "Transfer-Encoding", "Connection", "Accept-Encoding", "User-Agent"}
)

// readGeneric reads the description. It insists on knowing what types there
// are, because a type that is not checked would be believed.
func readGeneric(form *form, base *url.URL) func(*http.Client, string) adapter {
	vendor := generic{
		id:         form.pointer("id_pointer", "/id"),
		status:     form.pointer("status_pointer", ""),
		active:     form.list("active_statuses", "active"),
		scheme:     form.pointer("scheme_pointer", ""),
		digits:     form.pointer("digits_pointer", ""),
		expires:    form.pointer("expiry_pointer", ""),
		expiryYear: form.pointer("expiry_year_pointer", ""),
		expiryMo:   form.pointer("expiry_month_pointer", ""),
	}
	vendor.readPath(form)
	vendor.readTypes(form)
	header, scheme := form.text("auth_header", "Authorization"), form.text("auth_scheme", "Bearer")
	if !headerForm.MatchString(header) || slices.Contains(ownHeaders, textproto.CanonicalMIMEHeaderKey(header)) {
		form.fault("settings.auth_header", "it is the name of the header that carries the secret")
	}
	if !valueForm.MatchString(scheme) {
		form.fault("settings.auth_scheme", "it is the word before the secret, such as Bearer, or empty")
	}
	headers := readHeaders(form)
	return func(client *http.Client, secret string) adapter {
		if secret != "" {
			headers[header] = strings.TrimSpace(scheme + " " + secret)
		}
		vendor.inquiry = inquiry{client: client, base: base, headers: headers}
		return &vendor
	}
}

// readPath reads where the reference goes: one whole segment of the path.
func (v *generic) readPath(form *form) {
	path := form.text("path", "/{reference}")
	var ok bool
	v.before, v.after, ok = strings.Cut(path, "{reference}")
	_, err := url.Parse("https://vendor.invalid" + path)
	if !ok || err != nil || strings.Contains(v.after, "{reference}") || strings.Contains(path, "#") ||
		!strings.HasPrefix(v.before, "/") || !strings.HasSuffix(v.before, "/") || strings.Contains(v.before, "?") ||
		v.after != "" && v.after[0] != '/' && v.after[0] != '?' || slices.Contains(strings.Split(path, "/"), "..") {
		form.fault("settings.path", "it is a path in which {reference} is one whole segment, for example /v1/mandates/{reference}")
	}
}

// readTypes reads how the reply names types, or what all of its instructions
// are.
func (v *generic) readTypes(form *form) {
	v.kind = form.pointer("type_pointer", "")
	v.types = form.list("types", "")
	v.kinds = map[string][]string{}
	for _, pair := range form.list("type_map", "") {
		word, kind, _ := strings.Cut(pair, "=")
		v.kinds[word] = append(v.kinds[word], kind)
		if !slices.Contains(landfall.InstructionTypes, kind) {
			form.fault("settings.type_map", "it is written word=TYPE,word=TYPE with the types "+strings.Join(landfall.InstructionTypes, ", "))
		}
	}
	for _, kind := range v.types {
		if !slices.Contains(landfall.InstructionTypes, kind) {
			form.fault("settings.types", "the types are "+strings.Join(landfall.InstructionTypes, ", "))
		}
	}
	if (v.kind == nil) == (len(v.types) == 0) {
		form.fault("settings.types", "give either types, or type_pointer with type_map")
	}
}

// readHeaders reads settings named header.NAME. One that sounds like a
// credential is refused: settings are stored and shown.
func readHeaders(form *form) map[string]string {
	headers := map[string]string{}
	for setting, value := range form.values {
		name, ok := strings.CutPrefix(setting, "header.")
		if !ok {
			continue
		}
		form.asked[setting] = true
		switch {
		case !headerForm.MatchString(name) || !valueForm.MatchString(value) ||
			slices.Contains(ownHeaders, textproto.CanonicalMIMEHeaderKey(name)):
			form.fault("settings."+setting, "this header cannot be set")
		case secretName.MatchString(name):
			form.fault("settings."+setting, "credentials come from the environment; see auth_header")
		}
		headers[name] = value
	}
	return headers
}

// ask fetches the instruction and follows the pointers. What a pointer does
// not find is taken as not told; only the id and the status can refuse.
func (v *generic) ask(ctx context.Context, reference string) (answer, error) {
	reply, err := v.inquiry.get(ctx, v.before+url.PathEscape(reference)+v.after)
	var status *statusError
	if errors.As(err, &status) && (status.status == http.StatusNotFound || status.status == http.StatusGone) {
		return answer{}, errMissing
	}
	if err != nil {
		return answer{}, err
	}
	if v.id != nil {
		if err := about(reference, v.id.find(reply)); err != nil {
			return answer{}, err
		}
	}
	// Without a pointer to it there is nothing to say against an instruction that
	// exists: the operator has described a vendor that tells no status.
	state := v.status.find(reply)
	got := answer{
		types:  v.types,
		active: v.status == nil || slices.Contains(v.active, state),
		details: landfall.InstructionDetails{
			Status:     word(state),
			Scheme:     word(v.scheme.find(reply)),
			LastDigits: lastDigits(v.digits.find(reply)),
			Expiry:     expiryText(v.expires.find(reply)),
		},
	}
	if v.kind != nil {
		got.types = v.kinds[v.kind.find(reply)]
	}
	if v.expiryYear != nil {
		got.details.Expiry = expiry(v.expiryYear.find(reply), v.expiryMo.find(reply))
	}
	return got, nil
}
