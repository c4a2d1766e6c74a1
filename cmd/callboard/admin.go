package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/ask"
	"github.com/callboard/callboard/persistence"
)

// maxAdminBody bounds what the local socket reads.
const maxAdminBody = 1 << 20

// adminWait is how long the command line waits; a recount reads every row.
const adminWait = 10 * time.Minute

func socketPath(data string) string { return filepath.Join(data, "admin.sock") }

// adminSocket serves the command line from the running process, and what
// admin_addr tells besides. Whoever can open the socket owns the data folder, so
// it asks for no key.
type adminSocket struct {
	server *http.Server
	path   string
}

func openAdmin(data string, keys keyDesk, pages http.Handler, log *slog.Logger) (*adminSocket, error) {
	path := socketPath(data)
	_ = os.Remove(path) // of a process that ended; the folder is locked by us
	ln, err := new(net.ListenConfig).Listen(context.Background(), "unix", path)
	if err != nil {
		return nil, fmt.Errorf("the local socket: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(err, ln.Close())
	}
	mux := http.NewServeMux()
	mux.Handle("/", adminRoutes(keys))
	mux.Handle("/debug/", pages)
	mux.Handle("/metrics", pages)
	a := &adminSocket{path: path, server: &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn)}}
	go func() { _ = a.server.Serve(ln) }()
	return a, nil
}

func (a *adminSocket) close() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	_ = a.server.Shutdown(ctx)
	_ = a.server.Close() // a profile under way is cut off
	_ = os.Remove(a.path)
}

func adminRoutes(keys keyDesk) http.Handler {
	mux := http.NewServeMux()
	asked(mux, "POST /keys", keys.create)
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, r *http.Request) {
		list, err := keys.list(r.Context(), r.URL.Query().Get("workspace"))
		answer(w, list, err)
	})
	asked(mux, "POST /keys/revoke", keys.revoke)
	asked(mux, "POST /backup", keys.backup)
	mux.HandleFunc("GET /store/requirement", func(w http.ResponseWriter, r *http.Request) {
		needs, err := keys.requirement(r.Context())
		answer(w, needs, err)
	})
	asked(mux, "POST /recount", keys.recount)
	mux.HandleFunc("GET /quarantine", func(w http.ResponseWriter, r *http.Request) {
		q, err := keys.quarantine(r.Context())
		answer(w, q, err)
	})
	mux.HandleFunc("POST /release", func(w http.ResponseWriter, r *http.Request) {
		q, err := keys.release(r.Context())
		answer(w, q, err)
	})
	staffRoutes(mux, keys)
	return mux
}

// asked is a route whose body is an In.
func asked[In, Out any](mux *http.ServeMux, route string, do func(context.Context, In) (Out, error)) {
	mux.HandleFunc(route, func(w http.ResponseWriter, r *http.Request) {
		var in In
		text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxAdminBody))
		if err == nil {
			err = domain.DecodeJSON(text, &in)
		}
		if err != nil {
			answer(w, nil, err)
			return
		}
		out, err := do(r.Context(), in)
		answer(w, out, err)
	})
}

func staffRoutes(mux *http.ServeMux, d staffDesk) {
	asked(mux, "POST /workspaces", d.createTenant)
	asked(mux, "POST /users", d.createPerson)
	mux.HandleFunc("GET /workspaces", func(w http.ResponseWriter, r *http.Request) {
		all, err := d.tenants(r.Context())
		answer(w, all, err)
	})
	mux.HandleFunc("DELETE /workspaces/{id}", func(w http.ResponseWriter, r *http.Request) {
		answer(w, struct{}{}, d.deleteTenant(r.Context(), r.PathValue("id")))
	})
	mux.HandleFunc("GET /users", func(w http.ResponseWriter, r *http.Request) {
		all, err := d.people(r.Context(), r.URL.Query().Get("workspace"))
		answer(w, all, err)
	})
	mux.HandleFunc("POST /users/{id}/link", func(w http.ResponseWriter, r *http.Request) {
		l, err := d.linkOf(r.Context(), r.PathValue("id"))
		answer(w, l, err)
	})
}

func answer(w http.ResponseWriter, v any, err error) {
	w.Header().Set("Content-Type", "application/json")
	if err != nil {
		w.WriteHeader(http.StatusUnprocessableEntity)
		v = map[string]string{"error": err.Error()}
	}
	_ = json.NewEncoder(w).Encode(v)
}

// socketKeys asks the running service.
type socketKeys struct{ client *http.Client }

// dialAdmin finds the running service of a data folder.
func dialAdmin(data string) (keyDesk, bool) {
	path := socketPath(data)
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "unix", path)
	}
	conn, err := dial(context.Background(), "", "")
	if err != nil {
		return nil, false
	}
	_ = conn.Close()
	return socketKeys{&http.Client{Timeout: adminWait, Transport: &http.Transport{DialContext: dial}}}, true
}

func (s socketKeys) ask(ctx context.Context, method, path string, in, out any) error {
	var body io.Reader
	if in != nil {
		b, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://callboard"+path, body)
	if err != nil {
		return err
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		var e struct {
			Error string `json:"error"`
		}
		_ = json.NewDecoder(resp.Body).Decode(&e)
		return errors.New(e.Error)
	}
	return json.NewDecoder(resp.Body).Decode(out)
}

func (s socketKeys) create(ctx context.Context, k newKey) (made madeKey, err error) {
	err = s.ask(ctx, http.MethodPost, "/keys", k, &made)
	return made, err
}

func (s socketKeys) list(ctx context.Context, workspace string) (out []*domain.APIKey, err error) {
	err = s.ask(ctx, http.MethodGet, "/keys?workspace="+url.QueryEscape(workspace), nil, &out)
	return out, err
}

func (s socketKeys) recount(ctx context.Context, o recountOrder) (out []ask.Recount, err error) {
	err = s.ask(ctx, http.MethodPost, "/recount", o, &out)
	return out, err
}

func (s socketKeys) backup(ctx context.Context, o backupOrder) (made backedUp, err error) {
	err = s.ask(ctx, http.MethodPost, "/backup", o, &made)
	return made, err
}

func (s socketKeys) requirement(ctx context.Context) (needs persistence.Requirement, err error) {
	err = s.ask(ctx, http.MethodGet, "/store/requirement", nil, &needs)
	return needs, err
}

func (s socketKeys) quarantine(ctx context.Context) (q *ask.Quarantine, err error) {
	err = s.ask(ctx, http.MethodGet, "/quarantine", nil, &q)
	return q, err
}

func (s socketKeys) release(ctx context.Context) (q *ask.Quarantine, err error) {
	err = s.ask(ctx, http.MethodPost, "/release", nil, &q)
	return q, err
}

func (s socketKeys) revoke(ctx context.Context, o revokeKeyRequest) (done revokeKeyResult, err error) {
	err = s.ask(ctx, http.MethodPost, "/keys/revoke", o, &done)
	return done, err
}
