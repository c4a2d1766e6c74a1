package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/callboard/callboard/client"
	"github.com/callboard/callboard/cmd/callboard/cli"
	"github.com/callboard/callboard/cmd/callboard/doctor"
	"github.com/callboard/callboard/configs"
	"github.com/callboard/callboard/persistence"
)

// errFindings makes the exit code tell that something must be mended.
var errFindings = errors.New("there is something to mend")

func doctorCommand() *cobra.Command {
	v := &doctor.Visit{}
	asJSON, strict, all := false, false, false
	cmd := &cobra.Command{
		Use: "doctor", Short: "Look at ports, limits, certificates, trunks, engines, disk, Redis, other nodes and secrets, and say how to mend what is wrong", Args: cobra.NoArgs,
		Long: "Looks at this machine with the settings of the service (give it the same environment, file and flags), and asks the service itself where it runs. " +
			"Nothing is changed. Exit code 1 where something must be mended; with --strict where something should be.",
		Example: "  callboard doctor\n  callboard doctor --config /etc/callboard/callboard.yaml --reach https://hooks.example.com --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			v.Config, v.Faulty = settings(cmd)
			v.Env = os.Environ()
			if v.Config != nil && (v.Config.Blobs != (configs.Blobs{}) || v.Config.NodeAddr.IsValid()) {
				v.Bucket = func(ctx context.Context) (string, bool, error) { return tryBlobs(ctx, v.Config) }
			}
			if v.Config != nil {
				among(v, v.Config)
				v.TooNew = persistence.ErrFormat
				v.StoreFormat = func(ctx context.Context) (string, error) { return formatForDoctor(ctx, v.Config) }
				if _, v.Running = dialAdmin(v.Config.Data); v.Running || cli.Remote(cmd) {
					var err error
					if v.Client, err = inquirer(cmd, v.Config); err != nil {
						return err
					}
				}
			}
			found := v.Look(cmd.Context())
			if err := shown(cmd.OutOrStdout(), found, asJSON, all); err != nil {
				return err
			}
			if worst := doctor.Worst(found); worst == doctor.Bad || strict && worst == doctor.Warn {
				return errFindings
			}
			return cmd.Context().Err()
		},
	}
	deskFlags(cmd)
	f := cmd.Flags()
	f.StringVar(&v.Reach, "reach", "", "an https:// URL that webhooks ought to reach")
	f.StringVar(&v.Clock, "clock", "", "the URL of a server whose clock is right")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	f.BoolVar(&strict, "strict", false, "exit code 1 for warnings, too")
	f.BoolVar(&all, "all", false, "show what is well, too")
	return cmd
}

// formatForDoctor tells which store format the store needs; persistence.ErrFormat:
// this program does not know it.
func formatForDoctor(ctx context.Context, cfg *configs.Config) (string, error) {
	needs, err := storedRequirement(ctx, cfg)
	if err == nil {
		err = needs.Check(version)
	}
	return fmt.Sprintf("the store needs format %d, this version knows formats up to %d", needs.Format, persistence.StoreFormat), err
}

// inquirer asks the service that is named, else the one that runs here with
// the key of its first start, where that still lies there; nil: there is no key.
func inquirer(cmd *cobra.Command, cfg *configs.Config) (*client.Client, error) {
	c, err := cli.Of(cmd)
	if err != nil || cli.Remote(cmd) {
		return c, err
	}
	c.URL = listening(cfg)
	if c.Key == "" || !cmd.Flags().Changed("key") && os.Getenv("CALLBOARD_KEY") == "" {
		text, err := os.ReadFile(filepath.Join(cfg.Data, "admin.key"))
		if err != nil {
			return nil, nil //nolint:nilnil,nilerr // it is kept elsewhere
		}
		c.Key = strings.TrimSpace(string(text))
	}
	trustOwn(c, cfg)
	return c, nil
}

// ownDial bounds a connection to a service on this machine.
const ownDial = 5 * time.Second

// trustOwn lets a client know the service here by its certificate, whatever
// name that is for.
func trustOwn(c *client.Client, cfg *configs.Config) {
	if cfg.TLSCert == "" {
		return
	}
	c.HTTP = &http.Client{Transport: &http.Transport{DialContext: (&net.Dialer{Timeout: ownDial}).DialContext, TLSClientConfig: &tls.Config{
		MinVersion: tls.VersionTLS12, InsecureSkipVerify: true, //nolint:gosec // VerifyConnection compares the certificate itself
		VerifyConnection: sameCertificate(cfg.TLSCert),
	}}}
}

// listening is where the service here listens, as this machine reaches it.
func listening(cfg *configs.Config) string {
	own := *cfg
	own.PublicURL, own.PublicIP = "", netip.Addr{} // which a NAT need not lead back
	return own.BaseURL(cfg.HTTPAddr)
}

// sameCertificate takes the peer whose certificate stands first in the file.
func sameCertificate(path string) func(tls.ConnectionState) error {
	return func(s tls.ConnectionState) error {
		text, err := os.ReadFile(path) //nolint:gosec // the operator names it
		if err != nil {
			return err
		}
		block, _ := pem.Decode(text)
		if block == nil || len(s.PeerCertificates) == 0 || !bytes.Equal(block.Bytes, s.PeerCertificates[0].Raw) {
			return errors.New("the service shows another certificate than that of tls_cert")
		}
		return nil
	}
}

func shown(out io.Writer, found []doctor.Finding, asJSON, all bool) error {
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
		if f.Mend != "" {
			_, _ = fmt.Fprintf(w, "\t\t→ %s\n", cli.Clean(f.Mend))
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "%d well, %d to look at, %d to mend\n", counts[doctor.OK], counts[doctor.Warn], counts[doctor.Bad])
	return err
}
