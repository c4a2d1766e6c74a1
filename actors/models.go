package actors

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"slices"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/engines/llm"
)

// Models are the language models of the installation.
type Models struct {
	List []llm.Engine // each of another name
	// Meanings is the model of /v1/embeddings by which knowledge bases are
	// searched besides words; nil: there is none.
	Meanings *llm.Engine
	Order    []string // tried where an agent names none, and behind the one that it names
}

// of are the engines that an agent is answered by, the first one first.
func (m Models) of(l *domain.AgentLLM) []llm.Engine {
	names := m.Order
	model := ""
	if l != nil {
		model = l.Model
		if l.Engine != "" {
			names = append([]string{l.Engine}, names...)
		}
	}
	var out []llm.Engine
	for _, name := range names {
		i := slices.IndexFunc(m.List, func(e llm.Engine) bool { return e.Name == name })
		if i < 0 || slices.ContainsFunc(out, func(e llm.Engine) bool { return e.Name == name }) {
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

// thinks says whether an agent has a model to speak by.
func (n *Node) thinks(l *domain.AgentLLM) bool { return len(n.cfg.Models.of(l)) > 0 }

// openWeb reaches what the operator has configured, wherever that is.
func openWeb(roots *x509.CertPool) *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, TLSHandshakeTimeout: 10 * time.Second,
			ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 64, IdleConnTimeout: 90 * time.Second, MaxResponseHeaderBytes: 64 << 10,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}
