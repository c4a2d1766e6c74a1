package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/callboard/callboard/cmd/callboard/administration"
	"github.com/callboard/callboard/cmd/callboard/blobstore"
	"github.com/callboard/callboard/cmd/callboard/cli"
	"github.com/callboard/callboard/cmd/callboard/datafolder"
	"github.com/callboard/callboard/cmd/callboard/doctor"
	"github.com/callboard/callboard/cmd/callboard/membership"
	"github.com/callboard/callboard/cmd/callboard/settings"
	"github.com/callboard/callboard/cmd/callboard/store"
	"github.com/callboard/callboard/configs"
	"github.com/callboard/callboard/httpapi/forward"
	"github.com/callboard/callboard/persistence"
	"github.com/callboard/callboard/persistence/lease"
)

// errFindings makes the exit code tell that something must be mended.
var errFindings = errors.New("there is something to mend")

func doctorCommand() *cobra.Command {
	v := &doctor.Diagnosis{}
	asJSON, strict, all := false, false, false
	cmd := &cobra.Command{
		Use: "doctor", Short: "Look at ports, limits, certificates, trunks, engines, disk, Redis, other nodes and secrets, and say how to mend what is wrong", Args: cobra.NoArgs,
		Long: "Looks at this machine with the settings of the service (give it the same environment, file and flags), and asks the service itself where it runs. " +
			"Nothing is changed. Exit code 1 where something must be mended; with --strict where something should be.",
		Example: "  callboard doctor\n  callboard doctor --config /etc/callboard/callboard.yaml --reach https://hooks.example.com --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			v.Config, v.Faulty = settings.Load(cmd)
			v.Env = os.Environ()
			if v.Config != nil && (v.Config.Blobs != (configs.Blobs{}) || v.Config.Node.Addr.IsValid()) {
				v.Bucket = func(ctx context.Context) (string, bool, error) { return blobstore.CheckAccess(ctx, v.Config) }
			}
			if v.Config != nil {
				addNodes(v, v.Config)
				v.TooNew = persistence.ErrFormat
				v.StoreFormat = func(ctx context.Context) (string, error) { return describeStoreFormat(ctx, v.Config) }
				if _, v.Running = administration.Dial(v.Config.Data); v.Running || cli.IsRemote(cmd) {
					var err error
					if v.Client, err = localClient(cmd, v.Config); err != nil {
						return err
					}
				}
			}
			found := v.Run(cmd.Context())
			if err := printFindings(cmd.OutOrStdout(), found, asJSON, all); err != nil {
				return err
			}
			if worst := doctor.Worst(found); worst == doctor.Bad || strict && worst == doctor.Warn {
				return errFindings
			}
			return cmd.Context().Err()
		},
	}
	addAdministrationFlags(cmd)
	f := cmd.Flags()
	f.StringVar(&v.Reach, "reach", "", "an https:// URL that webhooks ought to reach")
	f.StringVar(&v.Clock, "clock", "", "the URL of a server whose clock is right")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	f.BoolVar(&strict, "strict", false, "exit code 1 for warnings, too")
	f.BoolVar(&all, "all", false, "show what is well, too")
	return cmd
}

// describeStoreFormat returns which store format the store needs. Errors:
// persistence.ErrFormat if this version does not know it.
func describeStoreFormat(ctx context.Context, cfg *configs.Config) (string, error) {
	needs, err := storeRequirement(ctx, cfg)
	if err == nil {
		err = needs.Check(version)
	}
	return fmt.Sprintf("the store needs format %d, this version knows formats up to %d", needs.Format, persistence.StoreFormat), err
}

// printFindings prints the findings as a table or as JSON. Without all it leaves out
// those that are ok.
func printFindings(out io.Writer, found []doctor.Finding, asJSON, all bool) error {
	if asJSON {
		return printJSON(out, found)
	}
	counts := make(map[doctor.State]int)
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	for _, f := range found {
		counts[f.State]++
		if f.State == doctor.OK && !all {
			continue
		}
		_, _ = fmt.Fprintf(w, "%s\t%s\t%s\n", f.State, f.Check, cli.Clean(f.What))
		if f.Remedy != "" {
			_, _ = fmt.Fprintf(w, "\t\t→ %s\n", cli.Clean(f.Remedy))
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "%d well, %d to look at, %d to mend\n", counts[doctor.OK], counts[doctor.Warn], counts[doctor.Bad])
	return err
}

// addNodes sets the functions by which the doctor finds and queries other nodes.
func addNodes(v *doctor.Diagnosis, cfg *configs.Config) {
	if cfg.RedisURL.Reveal() == "" {
		return
	}
	v.Nodes = func(ctx context.Context) ([]doctor.Node, error) {
		nodes, err := membership.LiveNodes(ctx, cfg)
		nodes = slices.DeleteFunc(nodes, func(n lease.Node) bool { return n.Single })
		out := make([]doctor.Node, len(nodes))
		for i, n := range nodes {
			out[i] = doctor.Node{ID: n.ID, Addr: n.Addr, SIP: n.SIP, Version: n.Version, Lease: time.Duration(n.Lease) * time.Millisecond, Shards: n.Shards}
		}
		return out, err
	}
	v.Stranger = forward.ErrNoNode
	v.Ask = func(ctx context.Context, addr string) (time.Time, error) {
		master, err := nodeCredential(cfg)
		if err != nil {
			return time.Time{}, err
		}
		return master.Probe(ctx, addr)
	}
}

// nodeCredential returns the credential that nodes of a cluster share.
func nodeCredential(cfg *configs.Config) (*forward.Credential, error) {
	if cfg.MasterKeyFile == "" {
		return nil, errors.New("master_key_file is not set: the nodes know each other by the master key")
	}
	master, err := datafolder.ReadMasterKey(cfg, nil) // no key is made: a file is named
	if err != nil {
		return nil, err
	}
	return forward.NewCredential(datafolder.DeriveKey(master, "callboard nodes"))
}

// storeRequirement returns what a version must know to open the store, from the
// running service or from the store.
func storeRequirement(ctx context.Context, cfg *configs.Config) (persistence.Requirement, error) {
	if service, runs := administration.Dial(cfg.Data); runs && cfg.RedisURL.Reveal() == "" {
		return service.StoreRequirement(ctx)
	}
	return store.ReadRequirement(ctx, cfg)
}
