package spans

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"time"
)

// The shapes of OTLP/HTTP in JSON (opentelemetry-proto, ExportTraceServiceRequest):
// ids are hex, and numbers of 64 bits are texts.
type (
	request struct {
		ResourceSpans []resourceSpans `json:"resourceSpans"`
	}
	resourceSpans struct {
		Resource   resource     `json:"resource"`
		ScopeSpans []scopeSpans `json:"scopeSpans"`
	}
	resource struct {
		Attributes []attribute `json:"attributes"`
	}
	scopeSpans struct {
		Scope scope      `json:"scope"`
		Spans []jsonSpan `json:"spans"`
	}
	scope struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	}
	jsonSpan struct {
		TraceID    string      `json:"traceId"`
		SpanID     string      `json:"spanId"`
		ParentID   string      `json:"parentSpanId,omitempty"`
		Name       string      `json:"name"`
		Kind       int         `json:"kind"`
		From       string      `json:"startTimeUnixNano"`
		To         string      `json:"endTimeUnixNano"`
		Attributes []attribute `json:"attributes,omitempty"`
		Status     *status     `json:"status,omitempty"`
	}
	attribute struct {
		Key   string `json:"key"`
		Value value  `json:"value"`
	}
	value struct {
		Text   string `json:"stringValue,omitempty"`
		Number string `json:"intValue,omitempty"`
	}
	status struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}
)

// failed is a status's code (OTLP, Status.StatusCode).
const failed = 2

// encode writes a request.
func encode(all []span, version, node string) ([]byte, error) {
	out := make([]jsonSpan, len(all))
	for i := range all {
		s := &all[i]
		o := jsonSpan{
			TraceID: hex.EncodeToString(s.trace[:]), SpanID: hex.EncodeToString(s.id[:]), Name: s.name, Kind: s.kind,
			From: nanos(s.from), To: nanos(s.to), Attributes: attributes(s.about),
		}
		if s.parent != ([8]byte{}) {
			o.ParentID = hex.EncodeToString(s.parent[:])
		}
		if s.fault != "" {
			o.Status = &status{failed, s.fault}
		}
		out[i] = o
	}
	return json.Marshal(request{[]resourceSpans{{
		Resource:   resource{attributes([]about{text("service.name", "callboard"), text("service.version", version), text("service.instance.id", node)})},
		ScopeSpans: []scopeSpans{{scope{"callboard", version}, out}},
	}}})
}

func attributes(all []about) []attribute {
	out := make([]attribute, len(all))
	for i, a := range all {
		out[i] = attribute{Key: a.name, Value: value{Text: a.text}}
		if a.text == "" {
			out[i].Value.Number = strconv.FormatInt(a.number, 10)
		}
	}
	return out
}

func nanos(t time.Time) string { return strconv.FormatInt(t.UnixNano(), 10) }

// sampled says whether a share of all traces has this one in it: by its id, so
// that a trace is kept whole or not at all.
func sampled(trace [16]byte, share float64) bool {
	return share >= 1 || float64(binary.BigEndian.Uint64(trace[8:])>>11)/(1<<53) < share
}
