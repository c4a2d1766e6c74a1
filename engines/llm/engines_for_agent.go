package llm

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"slices"
	"time"

	"github.com/callboard/callboard/domain"
)

// Models holds the language models of the installation.
type Models struct {
	List []Engine // names are unique
	// Embedding is the engine of /v1/embeddings for the search in knowledge bases. If it is nil, the search compares only
	// words.
	Embedding *Engine
	Order     []string // names of the engines that are tried after the agent's own
}

// EnginesFor returns the engines for an agent in the order in which they are tried. If l is nil, the agent has the default
// settings.
func (m Models) EnginesFor(l *domain.AgentLLM) []Engine {
	names := m.Order
	model := ""
	if l != nil {
		model = l.Model
		if l.Engine != "" {
			names = append([]string{l.Engine}, names...)
		}
	}
	var out []Engine
	for _, name := range names {
		i := slices.IndexFunc(m.List, func(e Engine) bool { return e.Name == name })
		if i < 0 || slices.ContainsFunc(out, func(e Engine) bool { return e.Name == name }) {
			continue
		}
		e := m.List[i]
		if len(out) == 0 && model != "" && (l.Engine == "" || l.Engine == name) {
			e.Model = model
		}
		out = append(out, e)
	}
	return out
}

// NewHTTPClient returns an HTTP client for the operator's engines, which may have any address. If roots is nil, the
// system's certificates are trusted.
func NewHTTPClient(roots *x509.CertPool) *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, TLSHandshakeTimeout: 10 * time.Second,
			ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 64, IdleConnTimeout: 90 * time.Second, MaxResponseHeaderBytes: 64 << 10,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}
