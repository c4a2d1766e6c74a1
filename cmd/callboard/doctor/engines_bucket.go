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

// checkEngines checks whether each speech or language engine of the engines file answers and accepts its key.
func (d *Diagnosis) checkEngines(ctx context.Context) {
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
		d.checkEngine(ctx, &file.List[i])
	}
}

func (d *Diagnosis) checkEngine(ctx context.Context, e *configs.Engine) {
	ctx, cancel := context.WithTimeout(ctx, peerTimeout)
	defer cancel()
	at, err := url.Parse(e.URL)
	if err != nil {
		return // ReadEngines has already checked the URL
	}
	if (at.Scheme == "http" || at.Scheme == "ws") && !isLoopbackHost(at.Hostname()) && !isPrivateHost(at.Hostname()) {
		d.report.warn("engine_unencrypted", "use https:// or wss://", "audio and text of engine %s cross the network unencrypted: %s", e.Name, e.URL)
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
		d.report.bad("engine", "check the engine's url and the firewall; calls use the next engine of the chain", "engine %s does not answer: %v", e.Name, err)
		return
	}
	_ = resp.Body.Close()
	if e.Kind == configs.EngineOpenAI && slices.Contains([]int{http.StatusUnauthorized, http.StatusForbidden}, resp.StatusCode) {
		d.report.bad("engine_key", "set the correct key in key_file or key_env", "engine %s rejects the key (%d)", e.Name, resp.StatusCode)
		return
	}
	d.report.ok("engine", "engine %s answered %d", e.Name, resp.StatusCode)
}

func isPrivateHost(host string) bool {
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsPrivate()
}

// checkBucket writes, reads and deletes a blob in the bucket or folder for recordings.
func (d *Diagnosis) checkBucket(ctx context.Context) {
	if d.TryBucket == nil {
		return
	}
	place, versioned, err := d.TryBucket(ctx)
	if err != nil {
		d.report.bad("bucket", "check blobs_url and the permissions of the credentials: write, read, list and delete", "%v", err)
		return
	}
	d.report.ok("bucket", "%s permits writing, reading and deleting", place)
	if versioned {
		d.report.warn("bucket_versions", "disable versioning, or delete old versions with a lifecycle rule", "%s keeps versions of deleted blobs", place)
	}
}
