package administration

import (
	"context"
	"encoding/json"
	"io"
	"net/http"

	"github.com/callboard/callboard/domain"
)

// maxRequestBody bounds what the local socket reads.
const maxRequestBody = 1 << 20

func socketRoutes(keys Administration) http.Handler {
	mux := http.NewServeMux()
	handleJSON(mux, "POST /keys", keys.CreateKey)
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, r *http.Request) {
		list, err := keys.ListKeys(r.Context(), r.URL.Query().Get("workspace"))
		writeAnswer(w, list, err)
	})
	handleJSON(mux, "POST /keys/revoke", keys.RevokeKey)
	handleJSON(mux, "POST /backup", keys.Backup)
	mux.HandleFunc("GET /store/requirement", func(w http.ResponseWriter, r *http.Request) {
		needs, err := keys.StoreRequirement(r.Context())
		writeAnswer(w, needs, err)
	})
	handleJSON(mux, "POST /recount", keys.Recount)
	mux.HandleFunc("GET /quarantine", func(w http.ResponseWriter, r *http.Request) {
		q, err := keys.Quarantine(r.Context())
		writeAnswer(w, q, err)
	})
	mux.HandleFunc("POST /release", func(w http.ResponseWriter, r *http.Request) {
		q, err := keys.ReleaseQuarantine(r.Context())
		writeAnswer(w, q, err)
	})
	accountRoutes(mux, keys)
	return mux
}

// handleJSON is a route whose body is an In.
func handleJSON[In, Out any](mux *http.ServeMux, route string, do func(context.Context, In) (Out, error)) {
	mux.HandleFunc(route, func(w http.ResponseWriter, r *http.Request) {
		var in In
		text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequestBody))
		if err == nil {
			err = domain.DecodeJSON(text, &in)
		}
		if err != nil {
			writeAnswer(w, nil, err)
			return
		}
		out, err := do(r.Context(), in)
		writeAnswer(w, out, err)
	})
}

func accountRoutes(mux *http.ServeMux, d Accounts) {
	handleJSON(mux, "POST /workspaces", d.CreateWorkspace)
	handleJSON(mux, "POST /users", d.CreateUser)
	mux.HandleFunc("GET /workspaces", func(w http.ResponseWriter, r *http.Request) {
		all, err := d.ListWorkspaces(r.Context())
		writeAnswer(w, all, err)
	})
	mux.HandleFunc("DELETE /workspaces/{id}", func(w http.ResponseWriter, r *http.Request) {
		writeAnswer(w, struct{}{}, d.DeleteWorkspace(r.Context(), r.PathValue("id")))
	})
	mux.HandleFunc("GET /users", func(w http.ResponseWriter, r *http.Request) {
		all, err := d.ListUsers(r.Context(), r.URL.Query().Get("workspace"))
		writeAnswer(w, all, err)
	})
	mux.HandleFunc("POST /users/{id}/link", func(w http.ResponseWriter, r *http.Request) {
		l, err := d.CreateSignInLink(r.Context(), r.PathValue("id"))
		writeAnswer(w, l, err)
	})
}

func writeAnswer(w http.ResponseWriter, v any, err error) {
	w.Header().Set("Content-Type", "application/json")
	if err != nil {
		w.WriteHeader(http.StatusUnprocessableEntity)
		v = map[string]string{"error": err.Error()}
	}
	_ = json.NewEncoder(w).Encode(v)
}
