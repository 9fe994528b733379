package telemetry

import (
	"encoding/json"
	"math"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/resource"
)

// The JSON encoding of OTLP is that of protobuf, with three differences: trace and span
// ids are hexadecimal, enums are numbers, and names are in lower camel case. 64-bit
// integers are strings.
type (
	resourceJSON struct {
		Attributes []keyValue `json:"attributes"`
	}
	scopeJSON struct {
		Name    string `json:"name"`
		Version string `json:"version,omitempty"`
	}
	keyValue struct {
		Key   string    `json:"key"`
		Value valueJSON `json:"value"`
	}
	valueJSON struct {
		String *string `json:"stringValue,omitempty"`
		Bool   *bool   `json:"boolValue,omitempty"`
		Int    *signed `json:"intValue,omitempty"`
		Double *double `json:"doubleValue,omitempty"`
	}
	signed      int64
	unsigned    uint64
	double      float64
	nanoseconds time.Time // since 1970
)

// MarshalJSON implements json.Marshaler.
func (n signed) MarshalJSON() ([]byte, error) { return quoted(strconv.FormatInt(int64(n), 10)), nil }

// MarshalJSON implements json.Marshaler.
func (n unsigned) MarshalJSON() ([]byte, error) {
	return quoted(strconv.FormatUint(uint64(n), 10)), nil
}

// MarshalJSON implements json.Marshaler. Metrics without a measurement are NaN, which
// JSON has no number for.
func (n double) MarshalJSON() ([]byte, error) {
	switch value := float64(n); {
	case math.IsNaN(value):
		return quoted("NaN"), nil
	case math.IsInf(value, 1):
		return quoted("Infinity"), nil
	case math.IsInf(value, -1):
		return quoted("-Infinity"), nil
	default:
		return json.Marshal(value)
	}
}

// MarshalJSON implements json.Marshaler.
func (t nanoseconds) MarshalJSON() ([]byte, error) {
	if time.Time(t).IsZero() {
		return quoted("0"), nil
	}
	return quoted(strconv.FormatInt(time.Time(t).UnixNano(), 10)), nil
}

// quoted returns text that needs no escaping as a JSON string.
func quoted(s string) []byte { return []byte(`"` + s + `"`) }

func resourceOf(from *resource.Resource) resourceJSON {
	return resourceJSON{Attributes: attributesOf(from.Attributes())}
}

func scopeOf(from instrumentation.Scope) scopeJSON {
	return scopeJSON{Name: from.Name, Version: from.Version}
}

func attributesOf(attributes []attribute.KeyValue) []keyValue {
	converted := make([]keyValue, len(attributes))
	for i, from := range attributes {
		converted[i] = keyValue{Key: string(from.Key), Value: valueOf(from.Value)}
	}
	return converted
}

// valueOf converts a value. Lists become text: Landfall sets none.
func valueOf(from attribute.Value) valueJSON {
	switch from.Type() {
	case attribute.BOOL:
		value := from.AsBool()
		return valueJSON{Bool: &value}
	case attribute.INT64:
		value := signed(from.AsInt64())
		return valueJSON{Int: &value}
	case attribute.FLOAT64:
		value := double(from.AsFloat64())
		return valueJSON{Double: &value}
	}
	value := from.String()
	return valueJSON{String: &value}
}
