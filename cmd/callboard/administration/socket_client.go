package administration

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/callboard/callboard/cmd/callboard/backup"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/billing"
	"github.com/callboard/callboard/persistence"
	"github.com/callboard/callboard/service/restorequarantine"
)

// requestTimeout limits a request over the local socket. A recount takes longest, because it reads every row.
const requestTimeout = 10 * time.Minute

// socketClient implements Administration through the local socket of a running process.
type socketClient struct{ client *http.Client }

// Dial connects to the running process that uses a data folder. It returns false if no process runs.
func Dial(data string) (Administration, bool) {
	path := socketPath(data)
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "unix", path)
	}
	conn, err := dial(context.Background(), "", "")
	if err != nil {
		return nil, false
	}
	_ = conn.Close()
	return socketClient{&http.Client{Timeout: requestTimeout, Transport: &http.Transport{DialContext: dial}}}, true
}

// request sends a request with a JSON body to the socket and decodes the JSON reply into out.
func (s socketClient) request(ctx context.Context, method, path string, in, out any) error {
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

func (s socketClient) CreateKey(ctx context.Context, k NewKey) (created CreatedKey, err error) {
	err = s.request(ctx, http.MethodPost, "/keys", k, &created)
	return created, err
}

func (s socketClient) ListKeys(ctx context.Context, workspace string) (out []*domain.APIKey, err error) {
	err = s.request(ctx, http.MethodGet, "/keys?workspace="+url.QueryEscape(workspace), nil, &out)
	return out, err
}

func (s socketClient) Recount(ctx context.Context, o RecountRequest) (out []billing.LedgerCheck, err error) {
	err = s.request(ctx, http.MethodPost, "/recount", o, &out)
	return out, err
}

func (s socketClient) Backup(ctx context.Context, o BackupRequest) (created backup.Manifest, err error) {
	err = s.request(ctx, http.MethodPost, "/backup", o, &created)
	return created, err
}

func (s socketClient) StoreRequirement(ctx context.Context) (needs persistence.Requirement, err error) {
	err = s.request(ctx, http.MethodGet, "/store/requirement", nil, &needs)
	return needs, err
}

func (s socketClient) Quarantine(ctx context.Context) (q *restorequarantine.Quarantine, err error) {
	err = s.request(ctx, http.MethodGet, "/quarantine", nil, &q)
	return q, err
}

func (s socketClient) ReleaseQuarantine(ctx context.Context) (q *restorequarantine.Quarantine, err error) {
	err = s.request(ctx, http.MethodPost, "/release", nil, &q)
	return q, err
}

func (s socketClient) RevokeKey(ctx context.Context, o KeyRevocation) (done RevokedKey, err error) {
	err = s.request(ctx, http.MethodPost, "/keys/revoke", o, &done)
	return done, err
}

func (s socketClient) CreateWorkspace(ctx context.Context, n NewWorkspace) (created CreatedWorkspace, err error) {
	err = s.request(ctx, http.MethodPost, "/workspaces", n, &created)
	return created, err
}

func (s socketClient) ListWorkspaces(ctx context.Context) (out []*domain.Workspace, err error) {
	err = s.request(ctx, http.MethodGet, "/workspaces", nil, &out)
	return out, err
}

func (s socketClient) DeleteWorkspace(ctx context.Context, id string) error {
	return s.request(ctx, http.MethodDelete, "/workspaces/"+url.PathEscape(id), nil, &struct{}{})
}

func (s socketClient) CreateUser(ctx context.Context, n NewUser) (u *domain.User, err error) {
	err = s.request(ctx, http.MethodPost, "/users", n, &u)
	return u, err
}

func (s socketClient) ListUsers(ctx context.Context, workspace string) (out []*domain.User, err error) {
	err = s.request(ctx, http.MethodGet, "/users?workspace="+url.QueryEscape(workspace), nil, &out)
	return out, err
}

func (s socketClient) CreateSignInLink(ctx context.Context, userID string) (l SignInLink, err error) {
	err = s.request(ctx, http.MethodPost, "/users/"+url.PathEscape(userID)+"/link", nil, &l)
	return l, err
}
