package doctor

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/callboard/callboard/configs"
)

// engines asks each engine of the file whether it is there and takes the key.
func (d *Diagnosis) engines(ctx context.Context) {
	if d.Config.EnginesFile == "" {
		return
	}
	file, err := configs.ReadEngines(d.Config.EnginesFile, d.Env)
	if err != nil {
		var wrong *configs.InvalidError
		if !errors.As(err, &wrong) {
			d.report.bad("engines_file", "see docs/engines.md", "%v", err)
			return
		}
		for _, p := range wrong.Problems {
			d.report.bad("engines_file", "see docs/engines.md", "%s", p)
		}
		return
	}
	for i := range file.List {
		d.engine(ctx, &file.List[i])
	}
}

func (d *Diagnosis) engine(ctx context.Context, e *configs.Engine) {
	ctx, cancel := context.WithTimeout(ctx, oneLimit)
	defer cancel()
	at, err := url.Parse(e.URL)
	if err != nil {
		return // the file was read
	}
	if (at.Scheme == "http" || at.Scheme == "ws") && !loopbackName(at.Hostname()) && !privateName(at.Hostname()) {
		d.report.warn("engine_clear", "https:// or wss://", "engine %s hears and speaks in the clear: %s", e.Name, e.URL)
	}
	ask := *at
	ask.Scheme = strings.Replace(ask.Scheme, "ws", "http", 1)
	if e.Kind == configs.EngineOpenAI {
		ask.Path = strings.TrimRight(ask.Path, "/") + "/models"
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, ask.String(), http.NoBody)
	if err != nil {
		return
	}
	if e.Kind == configs.EngineOpenAI && e.Key.Reveal() != "" {
		req.Header.Set("Authorization", "Bearer "+e.Key.Reveal())
	}
	resp, err := (&http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}).Do(req)
	if err != nil {
		d.report.bad("engine", "look at its url and at the firewall; calls go on by the next engine of the chain", "engine %s does not answer: %v", e.Name, err)
		return
	}
	_ = resp.Body.Close()
	if e.Kind == configs.EngineOpenAI && slices.Contains([]int{http.StatusUnauthorized, http.StatusForbidden}, resp.StatusCode) {
		d.report.bad("engine_key", "the right key in key_file or key_env", "engine %s does not take its key (%d)", e.Name, resp.StatusCode)
		return
	}
	d.report.ok("engine", "engine %s answers %d", e.Name, resp.StatusCode)
}

func privateName(host string) bool {
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsPrivate()
}

// bucket writes, reads and deletes where recordings lie.
func (d *Diagnosis) bucket(ctx context.Context) {
	if d.Bucket == nil {
		return
	}
	place, versioned, err := d.Bucket(ctx)
	if err != nil {
		d.report.bad("bucket", "look at blobs_url, and at what the service may do there, with the key of a bucket: write, read, list and delete", "%v", err)
		return
	}
	d.report.ok("bucket", "%s lets us write, read and delete", place)
	if versioned {
		d.report.warn("bucket_versions", "switch its versions off, or let a rule of the bucket forget them", "%s keeps what is deleted", place)
	}
}
