package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/callboard/callboard/client"
	"github.com/callboard/callboard/cmd/callboard/cli"
	"github.com/callboard/callboard/cmd/callboard/datafolder"
	"github.com/callboard/callboard/cmd/callboard/logging"
	"github.com/callboard/callboard/cmd/callboard/server"
	"github.com/callboard/callboard/cmd/callboard/setup"
	"github.com/callboard/callboard/configs"
)

// firstWords are said in a test call.
const firstWords = "Hello. This is the first call of your Callboard. It works. Goodbye."

// testCallLimit bounds the test call of a setup.
const testCallLimit = 3 * time.Minute

// initResult is the JSON of callboard init.
type initResult struct {
	EnvFile string `json:"env_file"`
	TrunkID string `json:"trunk_id,omitempty"`
	CallID  string `json:"call_id,omitempty"`
	Call    string `json:"call,omitempty"` // its status
}

func initCommand() *cobra.Command {
	a := &setup.Answers{}
	var path, passwordFile string
	force, quiet, asJSON := false, false, false
	cmd := &cobra.Command{
		Use: "init", Short: "Set a service up: addresses, TLS, the first trunk, a test call", Args: cobra.NoArgs,
		Long: "Asks for what no flag says, where it runs on a terminal, checks the answers as the service will, and writes the file of variables that the service reads " +
			"(callboard serve --env-file). With a trunk the service is started for a moment, on its data folder, to keep the trunk, to ask the carrier by OPTIONS, and to place the test call.",
		Example: `  callboard init
  callboard init --yes --env-file /etc/callboard/callboard.env --sip 10.0.0.5:5060 --public-ip 192.0.2.9 \
    --tls-cert /etc/callboard/cert.pem --tls-key /etc/callboard/key.pem --public-url https://calls.example.com \
    --trunk-host sip.example.com --trunk-user me --trunk-password-file /root/password --caller-id +12025550100 --test-call +12025550123`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if passwordFile != "" {
				text, err := os.ReadFile(passwordFile) //nolint:gosec // the operator names it
				if err != nil {
					return err
				}
				a.TrunkPassword = strings.TrimSpace(string(text))
			}
			a.Hidden = hiddenInput(cmd.InOrStdin())
			if err := a.Interview(cmd.InOrStdin(), cmd.ErrOrStderr(), !quiet && !asJSON && logging.StdoutIsTerminal()); err != nil {
				return err
			}
			cfg, err := a.Check()
			if err != nil {
				return err
			}
			if a.TrunkHost != "" { // the service is started on the folder
				if err = datafolder.CheckOwner(cfg.Data); err != nil {
					return fmt.Errorf("%w. Or set up without a trunk, start the service, and use callboard trunks create", err)
				}
			}
			if err = a.Write(path, force); err != nil {
				return err
			}
			done := &initResult{EnvFile: path}
			note := cmd.ErrOrStderr()
			if a.TrunkHost != "" {
				err = createTrunk(cmd.Context(), cfg, a, done, note)
			}
			if asJSON {
				return errors.Join(printJSON(cmd.OutOrStdout(), done), err)
			}
			if err != nil {
				return fmt.Errorf("%s is written, but: %w", path, err)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s is written. Next:\n\n  callboard doctor --env-file %[1]s\n  callboard serve --env-file %[1]s\n\n", path)
			return err
		},
	}
	f := cmd.Flags()
	f.StringVar(&path, "env-file", "callboard.env", "the file that is written")
	f.BoolVar(&force, "force", false, "replace a file that is there")
	f.BoolVar(&quiet, "yes", false, "ask nothing: what no flag says is left as usual")
	f.BoolVar(&asJSON, "json", false, "print JSON, and ask nothing")
	f.StringVar(&a.Data, "data", "", "folder of everything durable; "+setup.DefaultData+" unless said")
	f.StringVar(&a.MasterKeyFile, "master-key-file", "", "the master key, outside of that folder")
	f.StringVar(&a.RedisURL, "redis-url", "", "keep the records in this Redis")
	f.StringVar(&a.SIP, "sip", "", "where SIP listens; the address of this machine and port 5060 unless said")
	f.StringVar(&a.PublicIP, "public-ip", "", "the outer address of a NAT")
	f.StringVar(&a.MediaPorts, "media-ports", "", "UDP ports of sound")
	f.StringVar(&a.HTTP, "http", "", "where the API and the dashboard listen")
	f.StringVar(&a.PublicURL, "public-url", "", "the base of links")
	f.StringVar(&a.TLSCert, "tls-cert", "", "certificate chain for HTTPS, PEM")
	f.StringVar(&a.TLSKey, "tls-key", "", "its private key, PEM")
	f.StringVar(&a.Proxies, "trusted-proxies", "", "networks of a proxy in front")
	f.StringVar(&a.TrunkHost, "trunk-host", "", "the carrier's SIP proxy")
	f.IntVar(&a.TrunkPort, "trunk-port", 0, "its port; the usual one unless said")
	f.StringVar(&a.TrunkTransport, "trunk-transport", "", "udp, tcp or tls; udp unless said")
	f.StringVar(&a.TrunkUser, "trunk-user", "", "user name at the carrier")
	f.StringVar(&passwordFile, "trunk-password-file", "", "a file with the password")
	f.BoolVar(&a.TrunkRegister, "trunk-register", false, "register at the carrier")
	f.StringVar(&a.CallerID, "caller-id", "", "the number that is shown")
	f.StringVar(&a.TestCall, "test-call", "", "a number to ring for a test")
	return cmd
}

// hiddenInput returns a function that reads a line without echo; nil: there is no
// terminal.
func hiddenInput(from io.Reader) func() (string, error) {
	in, ok := from.(*os.File)
	if !ok || !term.IsTerminal(int(in.Fd())) {
		return nil
	}
	return func() (string, error) {
		text, err := term.ReadPassword(int(in.Fd()))
		return string(text), err
	}
}

// createTrunk starts the service, creates the trunk of the answers, tests it and
// stops the service.
func createTrunk(ctx context.Context, cfg *configs.Config, a *setup.Answers, done *initResult, note io.Writer) error {
	s, err := server.Start(ctx, cfg, logging.NewTo(note, slog.LevelWarn, false), server.Options{Version: version})
	if err != nil {
		return err
	}
	defer s.Close()
	key, err := os.ReadFile(filepath.Join(cfg.Data, "admin.key"))
	if err != nil {
		return fmt.Errorf("the operator's key is kept elsewhere: make the trunk with callboard trunks create: %w", err)
	}
	c := clientInProcess(cfg, s.HTTPAddr, strings.TrimSpace(string(key)))
	trunk, err := c.CreateTrunk(ctx, a.Trunk())
	if err != nil {
		return err
	}
	done.TrunkID = trunk.ID
	test, err := c.TestTrunk(ctx, trunk.ID)
	if err != nil {
		return err
	}
	for _, x := range test.Targets {
		answer := fmt.Sprintf("answers %d %s", x.Code, x.Reason)
		if !x.Reachable {
			answer = "does not answer OPTIONS, which some carriers never do: " + x.Error
		}
		_, _ = fmt.Fprintf(note, "trunk %s: %s %s\n", trunk.ID, cli.Clean(x.Target), cli.Clean(answer))
	}
	if a.TestCall == "" {
		return nil
	}
	return placeTestCall(ctx, c, a, done, note)
}

// clientInProcess returns a client of the service in this process.
func clientInProcess(cfg *configs.Config, at netip.AddrPort, key string) *client.Client {
	own := *cfg
	own.HTTP.PublicURL, own.PublicIP = "", netip.Addr{}
	c := &client.Client{URL: own.BaseURL(at), Key: key, Retries: 3}
	trustLocalCertificate(c, cfg)
	return c
}

// placeTestCall calls the number of the answers and waits for its end.
func placeTestCall(ctx context.Context, c *client.Client, a *setup.Answers, done *initResult, note io.Writer) error {
	agent, err := c.CreateAgent(ctx, &client.NewAgent{Name: "first call", FirstMessage: new(firstWords)})
	if err != nil {
		return err
	}
	call, err := c.PlaceCall(ctx, &client.NewCallRequest{To: a.TestCall, From: &a.CallerID, AgentID: &agent.ID})
	if err != nil {
		return err
	}
	done.CallID = call.ID
	_, _ = fmt.Fprintf(note, "call %s: %s is rung\n", call.ID, a.TestCall)
	bounded, cancel := context.WithTimeout(ctx, testCallLimit)
	defer cancel()
	for e, err := range c.Events(bounded, client.StreamEventsQuery{Type: "call.*"}) {
		if err != nil {
			return err
		}
		if e.Subject == call.ID && e.Type == "call.ended" {
			break
		}
	}
	if call, err = c.GetCall(ctx, call.ID); err != nil {
		return err
	}
	done.Call = call.Status
	if call.Status != "completed" {
		return fmt.Errorf("the test call came to nothing: %s (%s)", call.Status, call.EndedReason)
	}
	_, _ = fmt.Fprintf(note, "call %s: answered, %d s\n", call.ID, call.DurationSeconds)
	return nil
}
