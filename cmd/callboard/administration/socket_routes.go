package administration

import (
	"context"
	"encoding/json"
	"io"
	"net/http"

	"github.com/callboard/callboard/domain"
)

// maxRequestBody limits the size of a request body on the local socket, in bytes.
const maxRequestBody = 1 << 20

// newSocketHandler returns the HTTP handler that serves an Administration on the local socket.
func newSocketHandler(keys Administration) http.Handler {
	mux := http.NewServeMux()
	addJSONRoute(mux, "POST /keys", keys.CreateKey)
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, r *http.Request) {
		list, err := keys.ListKeys(r.Context(), r.URL.Query().Get("workspace"))
		writeReply(w, list, err)
	})
	addJSONRoute(mux, "POST /keys/revoke", keys.RevokeKey)
	addJSONRoute(mux, "POST /backup", keys.Backup)
	mux.HandleFunc("GET /store/requirement", func(w http.ResponseWriter, r *http.Request) {
		needs, err := keys.StoreRequirement(r.Context())
		writeReply(w, needs, err)
	})
	addJSONRoute(mux, "POST /recount", keys.Recount)
	mux.HandleFunc("GET /quarantine", func(w http.ResponseWriter, r *http.Request) {
		q, err := keys.Quarantine(r.Context())
		writeReply(w, q, err)
	})
	mux.HandleFunc("POST /release", func(w http.ResponseWriter, r *http.Request) {
		q, err := keys.ReleaseQuarantine(r.Context())
		writeReply(w, q, err)
	})
	addAccountRoutes(mux, keys)
	return mux
}

// addJSONRoute adds a route that decodes its JSON request body to In, calls do and replies with Out as JSON.
func addJSONRoute[In, Out any](mux *http.ServeMux, route string, do func(context.Context, In) (Out, error)) {
	mux.HandleFunc(route, func(w http.ResponseWriter, r *http.Request) {
		var in In
		text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequestBody))
		if err == nil {
			err = domain.DecodeJSON(text, &in)
		}
		if err != nil {
			writeReply(w, nil, err)
			return
		}
		out, err := do(r.Context(), in)
		writeReply(w, out, err)
	})
}

// addAccountRoutes adds the routes of the local socket for workspaces and users.
func addAccountRoutes(mux *http.ServeMux, d Accounts) {
	addJSONRoute(mux, "POST /workspaces", d.CreateWorkspace)
	addJSONRoute(mux, "POST /users", d.CreateUser)
	mux.HandleFunc("GET /workspaces", func(w http.ResponseWriter, r *http.Request) {
		all, err := d.ListWorkspaces(r.Context())
		writeReply(w, all, err)
	})
	mux.HandleFunc("DELETE /workspaces/{id}", func(w http.ResponseWriter, r *http.Request) {
		writeReply(w, struct{}{}, d.DeleteWorkspace(r.Context(), r.PathValue("id")))
	})
	mux.HandleFunc("GET /users", func(w http.ResponseWriter, r *http.Request) {
		all, err := d.ListUsers(r.Context(), r.URL.Query().Get("workspace"))
		writeReply(w, all, err)
	})
	mux.HandleFunc("POST /users/{id}/link", func(w http.ResponseWriter, r *http.Request) {
		l, err := d.CreateSignInLink(r.Context(), r.PathValue("id"))
		writeReply(w, l, err)
	})
}

// writeReply writes v as JSON. If err is not nil, it writes the error with status 422 instead.
func writeReply(w http.ResponseWriter, v any, err error) {
	w.Header().Set("Content-Type", "application/json")
	if err != nil {
		w.WriteHeader(http.StatusUnprocessableEntity)
		v = map[string]string{"error": err.Error()}
	}
	_ = json.NewEncoder(w).Encode(v)
}
