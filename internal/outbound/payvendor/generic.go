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

// jsonAdapter queries any vendor that replies to a GET with JSON, as its settings describe.
type jsonAdapter struct {
	api                           apiClient
	before, after                 string // of the reference in the path
	id, status, kind              pointer
	scheme, digits                pointer
	expires, expiryYear, expiryMo pointer
	active                        []string
	types                         []string            // of all instructions, when the reply has no type
	kinds                         map[string][]string // our types by those of the reply
}

// Headers that operators may set. Headers that look like a secret are refused, because
// settings are stored in the database.
var (
	headerPattern   = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9-]{0,63}$`)
	valuePattern    = regexp.MustCompile(`^[ -~]{0,512}$`)
	secretName      = regexp.MustCompile(`(?i)authori[sz]ation|key|token|secret|password|cookie`)
	reservedHeaders = []string{"Host", "Content-Length", "Transfer-Encoding", "Connection", "Accept-Encoding", "User-Agent"}
)

// readGeneric reads the settings. The types are required, because an unchecked type would
// be trusted.
func readGeneric(parser *configParser, base *url.URL) func(*http.Client, string) vendorAdapter {
	vendor := jsonAdapter{
		id:         parser.pointer("id_pointer", "/id"),
		status:     parser.pointer("status_pointer", ""),
		active:     parser.list("active_statuses", "active"),
		scheme:     parser.pointer("scheme_pointer", ""),
		digits:     parser.pointer("digits_pointer", ""),
		expires:    parser.pointer("expiry_pointer", ""),
		expiryYear: parser.pointer("expiry_year_pointer", ""),
		expiryMo:   parser.pointer("expiry_month_pointer", ""),
	}
	vendor.readPath(parser)
	vendor.readTypes(parser)
	header, scheme := parser.text("auth_header", "Authorization"), parser.text("auth_scheme", "Bearer")
	if !headerPattern.MatchString(header) || slices.Contains(reservedHeaders, textproto.CanonicalMIMEHeaderKey(header)) {
		parser.addError("settings.auth_header", "want the name of the header for the secret")
	}
	if !valuePattern.MatchString(scheme) {
		parser.addError("settings.auth_scheme", "want the word before the secret, such as Bearer, or nothing")
	}
	headers := readHeaders(parser)
	return func(client *http.Client, secret string) vendorAdapter {
		if secret != "" {
			headers[header] = strings.TrimSpace(scheme + " " + secret)
		}
		vendor.api = apiClient{client: client, base: base, headers: headers}
		return &vendor
	}
}

// readPath reads the path, in which the reference is one whole segment.
func (v *jsonAdapter) readPath(parser *configParser) {
	path := parser.text("path", "/{reference}")
	var ok bool
	v.before, v.after, ok = strings.Cut(path, "{reference}")
	_, err := url.Parse("https://vendor.invalid" + path)
	if !ok || err != nil || strings.Contains(v.after, "{reference}") || strings.Contains(path, "#") ||
		!strings.HasPrefix(v.before, "/") || !strings.HasSuffix(v.before, "/") || strings.Contains(v.before, "?") ||
		v.after != "" && v.after[0] != '/' && v.after[0] != '?' || slices.Contains(strings.Split(path, "/"), "..") {
		parser.addError("settings.path", "want a path with {reference} as one whole segment, such as /v1/mandates/{reference}")
	}
}

// readTypes reads either the types of all instructions or how to find the type in a reply.
func (v *jsonAdapter) readTypes(parser *configParser) {
	v.kind = parser.pointer("type_pointer", "")
	v.types = parser.list("types", "")
	v.kinds = map[string][]string{}
	for _, pair := range parser.list("type_map", "") {
		word, kind, _ := strings.Cut(pair, "=")
		v.kinds[word] = append(v.kinds[word], kind)
		if !slices.Contains(landfall.InstructionTypes, kind) {
			parser.addError("settings.type_map", "want word=TYPE,word=TYPE with the types "+strings.Join(landfall.InstructionTypes, ", "))
		}
	}
	for _, kind := range v.types {
		if !slices.Contains(landfall.InstructionTypes, kind) {
			parser.addError("settings.types", "the types are "+strings.Join(landfall.InstructionTypes, ", "))
		}
	}
	if (v.kind == nil) == (len(v.types) == 0) {
		parser.addError("settings.types", "set either types, or type_pointer with type_map")
	}
}

// readHeaders reads the settings header.NAME. Credentials are refused, because settings are
// stored and shown.
func readHeaders(parser *configParser) map[string]string {
	headers := map[string]string{}
	for setting, value := range parser.values {
		name, ok := strings.CutPrefix(setting, "header.")
		if !ok {
			continue
		}
		parser.used[setting] = true
		switch {
		case !headerPattern.MatchString(name) || !valuePattern.MatchString(value) ||
			slices.Contains(reservedHeaders, textproto.CanonicalMIMEHeaderKey(name)):
			parser.addError("settings."+setting, "this header cannot be set")
		case secretName.MatchString(name):
			parser.addError("settings."+setting, "credentials come from the environment; see auth_header")
		}
		headers[name] = value
	}
	return headers
}

// lookup fetches the instruction and reads the values at the pointers. Missing values stay
// empty; only the id and the status can refuse an instruction.
func (v *jsonAdapter) lookup(ctx context.Context, reference string) (result, error) {
	reply, err := v.api.get(ctx, v.before+url.PathEscape(reference)+v.after)
	var status *statusError
	if errors.As(err, &status) && (status.status == http.StatusNotFound || status.status == http.StatusGone) {
		return result{}, errNotFound
	}
	if err != nil {
		return result{}, err
	}
	if v.id != nil {
		if err := checkID(reference, v.id.find(reply)); err != nil {
			return result{}, err
		}
	}
	// Without status_pointer the vendor has no status, and an instruction that exists is
	// active.
	state := v.status.find(reply)
	got := result{
		types:  v.types,
		active: v.status == nil || slices.Contains(v.active, state),
		details: landfall.InstructionDetails{
			Status:     plainWord(state),
			Scheme:     plainWord(v.scheme.find(reply)),
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
