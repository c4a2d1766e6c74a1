package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/callboard/callboard/actors"
	"github.com/callboard/callboard/cmd/callboard/cli"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/access"
	"github.com/callboard/callboard/domain/ask"
	"github.com/callboard/callboard/persistence"
)

// newKey asks for a key.
type newKey struct {
	Workspace   string              `json:"workspace"` // id; "": the only one
	Name        string              `json:"name"`
	Permissions []domain.Permission `json:"permissions"`
	Environment domain.Environment  `json:"environment"`
	AllowedIPs  []string            `json:"allowed_ips"`
	Operator    bool                `json:"operator"`
	ExpiresAt   *time.Time          `json:"expires_at"`
}

// madeKey is a key with its text, shown this once.
type madeKey struct {
	*domain.APIKey
	Text string `json:"key"`
}

// revokeKeyRequest is the request of keys revoke.
type revokeKeyRequest struct {
	ID      string `json:"id"`
	Cascade bool   `json:"cascade"` // end what the key created, too
}

// revokeKeyResult is the response to a revokeKeyRequest.
type revokeKeyResult struct {
	ID        string            `json:"id"`
	Revoked   bool              `json:"revoked"`
	Remaining []ask.ResourceRef `json:"remaining"`
	Ended     []ask.ResourceRef `json:"ended"`
}

// keyDesk is what the commands need: the running service's, or a stopped
// store's.
type keyDesk interface {
	create(ctx context.Context, k newKey) (madeKey, error)
	list(ctx context.Context, workspace string) ([]*domain.APIKey, error)
	revoke(ctx context.Context, o revokeKeyRequest) (revokeKeyResult, error)
	recount(ctx context.Context, o recountOrder) ([]ask.Recount, error)
	backup(ctx context.Context, o backupOrder) (backedUp, error)
	requirement(ctx context.Context) (persistence.Requirement, error)
	quarantine(ctx context.Context) (*ask.Quarantine, error)
	release(ctx context.Context) (*ask.Quarantine, error)
	staffDesk
}

// storeKeys works on an opened store.
type storeKeys struct{ v *vault }

// deskOf is all that the commands need.
type deskOf struct {
	storeKeys
	*staff
}

func keysOf(v *vault, s *staff) keyDesk {
	s.v = v
	return deskOf{storeKeys{v}, s}
}

func (s storeKeys) workspace(ctx context.Context, id string) (string, error) {
	all, err := actors.Workspaces(ctx, s.v.store)
	if err != nil {
		return "", err
	}
	for _, w := range all {
		if w.ID == id || (id == "" && len(all) == 1) {
			return w.ID, nil
		}
	}
	if id == "" {
		return "", fmt.Errorf("--workspace is required: there are %d workspaces", len(all))
	}
	return "", fmt.Errorf("--workspace %s: there is no such workspace", id)
}

func (s storeKeys) create(ctx context.Context, k newKey) (madeKey, error) {
	var ps domain.Problems
	access.CheckPermissions("permissions", k.Permissions, &ps)
	access.CheckAllowedIPs("allowed_ips", k.AllowedIPs, &ps)
	if k.Environment != domain.Live && k.Environment != domain.Test {
		ps.Add("environment", domain.CodeValidation, "environment must be live or test")
	}
	if strings.TrimSpace(k.Name) == "" || len(k.Name) > 200 {
		ps.Add("name", domain.CodeValidation, "name must have 1 to 200 characters")
	}
	if k.ExpiresAt != nil && !k.ExpiresAt.After(time.Now()) {
		ps.Add("expires_at", domain.CodeValidation, "expires_at must lie ahead")
	}
	if err := ps.Err(); err != nil {
		return madeKey{}, err
	}
	ws, err := s.workspace(ctx, k.Workspace)
	if err != nil {
		return madeKey{}, err
	}
	made, text, err := s.v.keys.Create(ctx, actors.Author{}, &domain.APIKey{
		Meta: domain.Meta{WorkspaceID: ws, Environment: k.Environment}, Name: k.Name, Permissions: k.Permissions,
		AllowedIPs: k.AllowedIPs, Operator: k.Operator, ExpiresAt: k.ExpiresAt,
	})
	if err != nil {
		return madeKey{}, err
	}
	return madeKey{APIKey: made.Public(), Text: text}, nil
}

func (s storeKeys) list(ctx context.Context, workspace string) ([]*domain.APIKey, error) {
	all, err := actors.Workspaces(ctx, s.v.store)
	if err != nil {
		return nil, err
	}
	var out []*domain.APIKey
	for _, w := range all {
		if workspace != "" && w.ID != workspace {
			continue
		}
		if err := s.v.keys.Load(ctx, w.ID); err != nil {
			return nil, err
		}
		for _, k := range s.v.keys.All(w.ID) {
			out = append(out, k.Public())
		}
	}
	return out, nil
}

// deskFlags are the settings, and the service that is asked instead where one
// is named.
func deskFlags(cmd *cobra.Command) {
	settingsFlags(cmd)
	cli.Flags(cmd)
	cmd.PreRunE = nil // what is here needs no profile
}

// tell prints what was done, as JSON or as a sentence.
func tell(cmd *cobra.Command, asJSON bool, done any, format string, args ...any) error {
	if asJSON {
		return printJSON(cmd.OutOrStdout(), done)
	}
	_, err := fmt.Fprintf(cmd.OutOrStdout(), format, args...)
	return err
}

// withKeys runs f on the service that is named; else on the one that runs here,
// or on the store where none runs.
func withKeys(cmd *cobra.Command, f func(context.Context, keyDesk) error) error {
	if cli.Remote(cmd) {
		c, err := cli.Of(cmd)
		if err != nil {
			return err
		}
		return f(cmd.Context(), remoteDesk{c})
	}
	cfg, err := settings(cmd)
	if err != nil {
		return err
	}
	ctx := cmd.Context()
	if d, ok := dialAdmin(cfg.Data); ok {
		return f(ctx, d)
	}
	if _, err = os.Stat(cfg.Data); err != nil {
		return fmt.Errorf("--data %s: there is no store yet; start the service once", cfg.Data)
	}
	v, err := openVault(ctx, cfg, logger(cfg), nil)
	if errors.Is(err, persistence.ErrInUse) {
		return fmt.Errorf("the service runs but does not answer on its socket: %w", err)
	}
	if err != nil {
		return err
	}
	defer v.close()
	return f(ctx, keysOf(v, &staff{base: cfg.BaseURL(cfg.HTTPAddr), demo: cfg.Simulator}))
}

func keysCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "keys", Short: "Make, list and revoke API keys, on a running service, a stopped one, or by --url or --profile on another one"}
	cmd.AddCommand(keysCreate(), keysList(), keysRevoke(), keysMaster())
	return cmd
}

func keysCreate() *cobra.Command {
	k := newKey{Permissions: []domain.Permission{}}
	var rights, expires, env string
	asJSON := false
	cmd := &cobra.Command{
		Use: "create", Short: "Make an API key and print it, this once", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for p := range strings.SplitSeq(rights, ",") {
				k.Permissions = append(k.Permissions, domain.Permission(strings.TrimSpace(p)))
			}
			k.Environment = domain.Environment(env)
			if expires != "" {
				t, err := time.Parse(time.RFC3339, expires)
				if err != nil {
					return errors.New("--expires must be a time such as 2027-01-31T00:00:00Z")
				}
				k.ExpiresAt = &t
			}
			return withKeys(cmd, func(ctx context.Context, d keyDesk) error {
				made, err := d.create(ctx, k)
				if err != nil {
					return err
				}
				if asJSON {
					return printJSON(cmd.OutOrStdout(), made)
				}
				if _, err = fmt.Fprintf(cmd.OutOrStdout(), "%s\n", made.Text); err != nil {
					return err
				}
				_, err = fmt.Fprintf(cmd.ErrOrStderr(), "%s (%s), shown this once\n", made.ID, made.Environment)
				return err
			})
		},
	}
	deskFlags(cmd)
	f := cmd.Flags()
	f.StringVar(&k.Name, "name", "cli", "what the key is for")
	f.StringVar(&rights, "permissions", "*:read,*:write", "comma-separated permissions")
	f.StringVar(&env, "environment", "live", "live or test")
	f.StringSliceVar(&k.AllowedIPs, "allowed-ip", nil, "address or CIDR that may use it; repeatable")
	f.BoolVar(&k.Operator, "operator", false, "the key may change plans, limits and other operator's settings")
	f.StringVar(&expires, "expires", "", "when it ends, RFC 3339")
	f.StringVar(&k.Workspace, "workspace", "", "id of the workspace, where there are several")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func keysList() *cobra.Command {
	asJSON, workspace := false, ""
	cmd := &cobra.Command{
		Use: "list", Short: "List API keys, without their secrets", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withKeys(cmd, func(ctx context.Context, d keyDesk) error {
				keys, err := d.list(ctx, workspace)
				if err != nil {
					return err
				}
				if asJSON {
					return printJSON(cmd.OutOrStdout(), keys)
				}
				w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 4, 2, ' ', 0)
				_, _ = fmt.Fprintln(w, "ID\tNAME\tENVIRONMENT\tENDS IN\tOPERATOR\tPERMISSIONS\tSTATE")
				for _, k := range keys {
					_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%t\t%v\t%s\n", k.ID, k.Name, k.Environment, k.Last4, k.Operator, k.Permissions, stateOf(k))
				}
				return w.Flush()
			})
		},
	}
	deskFlags(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().StringVar(&workspace, "workspace", "", "id of one workspace")
	return cmd
}

const active = "active"

func stateOf(k *domain.APIKey) string {
	switch {
	case k.RevokedAt != nil:
		return "revoked"
	case k.ExpiresAt != nil && !time.Now().Before(*k.ExpiresAt):
		return "expired"
	}
	return active
}

func keysRevoke() *cobra.Command {
	asJSON, o := false, revokeKeyRequest{}
	cmd := &cobra.Command{
		Use: "revoke KEY_ID", Short: "Refuse an API key and its child keys from now on, and list or end what they created", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withKeys(cmd, func(ctx context.Context, d keyDesk) error {
				o.ID = args[0]
				done, err := d.revoke(ctx, o)
				if err != nil {
					return err
				}
				var text strings.Builder
				fmt.Fprintf(&text, "%s is revoked\n", done.ID)
				for _, x := range done.Ended {
					fmt.Fprintf(&text, "ended      %s %s\n", x.Object, x.ID)
				}
				for _, x := range done.Remaining {
					fmt.Fprintf(&text, "remains    %s %s\n", x.Object, x.ID)
				}
				return tell(cmd, asJSON, done, "%s", text.String())
			})
		},
	}
	deskFlags(cmd)
	cmd.Flags().BoolVar(&o.Cascade, "cascade", false, "end the OAuth clients, users, webhooks, phones and keys that the key created, too")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
