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

// errFindings sets the exit code to 1 when a check fails.
var errFindings = errors.New("at least one check failed")

func doctorCommand() *cobra.Command {
	v := &doctor.Diagnosis{}
	asJSON, strict, all := false, false, false
	cmd := &cobra.Command{
		Use: "doctor", Short: "Check ports, limits, certificates, trunks, engines, disk, Redis, other nodes and secrets, and print remedies", Args: cobra.NoArgs,
		Long: "Checks this machine with the settings of the service: use the same environment, file and flags. It also queries the service if one runs. " +
			"The command changes nothing. Exit code 1 if a check fails; with --strict also after a warning.",
		Example: "  callboard doctor\n  callboard doctor --config /etc/callboard/callboard.yaml --reach https://hooks.example.com --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			v.Config, v.ConfigError = settings.Load(cmd)
			v.Env = os.Environ()
			if v.Config != nil && (v.Config.Blobs != (configs.Blobs{}) || v.Config.Node.Addr.IsValid()) {
				v.TryBucket = func(ctx context.Context) (string, bool, error) { return blobstore.CheckAccess(ctx, v.Config) }
			}
			if v.Config != nil {
				setNodeFunctions(v, v.Config)
				v.UnknownFormatError = persistence.ErrFormat
				v.ReadStoreFormat = func(ctx context.Context) (string, error) { return describeStoreFormat(ctx, v.Config) }
				if _, v.Running = administration.Dial(v.Config.Data); v.Running || cli.IsRemote(cmd) {
					var err error
					if v.Client, err = localClient(cmd, v.Config); err != nil {
						return err
					}
				}
			}
			findings := v.Run(cmd.Context())
			if err := printFindings(cmd.OutOrStdout(), findings, asJSON, all); err != nil {
				return err
			}
			if worst := doctor.WorstState(findings); worst == doctor.Bad || strict && worst == doctor.Warn {
				return errFindings
			}
			return cmd.Context().Err()
		},
	}
	addAdministrationFlags(cmd)
	f := cmd.Flags()
	f.StringVar(&v.ReachURL, "reach", "", "https:// URL that webhooks must reach")
	f.StringVar(&v.ClockURL, "clock", "", "URL of a server with a correct clock")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	f.BoolVar(&strict, "strict", false, "exit code 1 also after warnings")
	f.BoolVar(&all, "all", false, "also print checks that passed")
	return cmd
}

// describeStoreFormat describes the format of the store and the newest format that this version supports. It returns
// persistence.ErrFormat if this version does not know the store's format.
func describeStoreFormat(ctx context.Context, cfg *configs.Config) (string, error) {
	needs, err := readStoreRequirement(ctx, cfg)
	if err == nil {
		err = needs.Check(version)
	}
	return fmt.Sprintf("the store has format %d; this version supports formats up to %d", needs.Format, persistence.StoreFormat), err
}

// printFindings prints the findings as a table or as JSON. Unless all is true, the table omits checks that passed.
func printFindings(out io.Writer, findings []doctor.Finding, asJSON, all bool) error {
	if asJSON {
		return printJSON(out, findings)
	}
	counts := make(map[doctor.State]int)
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	for _, f := range findings {
		counts[f.State]++
		if f.State == doctor.OK && !all {
			continue
		}
		_, _ = fmt.Fprintf(w, "%s\t%s\t%s\n", f.State, f.Check, cli.Clean(f.Message))
		if f.Remedy != "" {
			_, _ = fmt.Fprintf(w, "\t\t→ %s\n", cli.Clean(f.Remedy))
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "%d passed, %d warnings, %d failed\n", counts[doctor.OK], counts[doctor.Warn], counts[doctor.Bad])
	return err
}

// setNodeFunctions sets the functions by which the doctor lists and probes other nodes.
func setNodeFunctions(v *doctor.Diagnosis, cfg *configs.Config) {
	if cfg.RedisURL.Reveal() == "" {
		return
	}
	v.ListNodes = func(ctx context.Context) ([]doctor.Node, error) {
		nodes, err := membership.LiveNodes(ctx, cfg)
		nodes = slices.DeleteFunc(nodes, func(n lease.Node) bool { return n.Single })
		out := make([]doctor.Node, len(nodes))
		for i, n := range nodes {
			out[i] = doctor.Node{ID: n.ID, Addr: n.Addr, SIP: n.SIP, Version: n.Version, Lease: time.Duration(n.Lease) * time.Millisecond, Shards: n.Shards}
		}
		return out, err
	}
	v.WrongKeyError = forward.ErrNoNode
	v.ProbeNode = func(ctx context.Context, addr string) (time.Time, error) {
		master, err := readNodeCredential(cfg)
		if err != nil {
			return time.Time{}, err
		}
		return master.Probe(ctx, addr)
	}
}

// readNodeCredential derives the credential by which nodes authenticate each other from the master key.
func readNodeCredential(cfg *configs.Config) (*forward.Credential, error) {
	if cfg.MasterKeyFile == "" {
		return nil, errors.New("master_key_file is not set: nodes authenticate each other with the master key")
	}
	master, err := datafolder.ReadMasterKey(cfg, nil) // the file exists, so no key is created
	if err != nil {
		return nil, err
	}
	return forward.NewCredential(datafolder.DeriveKey(master, "callboard nodes"))
}

// readStoreRequirement returns the format of the store and the oldest version of Callboard that can open it. It asks the
// running service, or reads the store if none runs or the store is in Redis.
func readStoreRequirement(ctx context.Context, cfg *configs.Config) (persistence.Requirement, error) {
	if service, runs := administration.Dial(cfg.Data); runs && cfg.RedisURL.Reveal() == "" {
		return service.StoreRequirement(ctx)
	}
	return store.ReadRequirement(ctx, cfg)
}
