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

// testCallGreeting is what the agent says in the test call.
const testCallGreeting = "Hello. This is the first call of your Callboard. It works. Goodbye."

// testCallTimeout bounds the test call of callboard init.
const testCallTimeout = 3 * time.Minute

// initResult is the JSON output of callboard init.
type initResult struct {
	EnvFile string `json:"env_file"`
	TrunkID string `json:"trunk_id,omitempty"`
	CallID  string `json:"call_id,omitempty"`
	Call    string `json:"call,omitempty"` // final status of the test call
}

func initCommand() *cobra.Command {
	a := &setup.Answers{}
	var path, passwordFile string
	force, quiet, asJSON := false, false, false
	cmd := &cobra.Command{
		Use: "init", Short: "Set up a service: addresses, TLS, the first trunk, a test call", Args: cobra.NoArgs,
		Long: "Asks for missing settings on a terminal, checks the answers with the service's rules, and writes a file of environment variables for the service " +
			"(callboard serve --env-file). With a trunk the command starts the service for a moment on its data folder. It then stores the trunk, sends OPTIONS to the carrier, and places the test call.",
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
			a.ReadHidden = hiddenInputReader(cmd.InOrStdin())
			if err := a.AskMissing(cmd.InOrStdin(), cmd.ErrOrStderr(), !quiet && !asJSON && logging.StdoutIsTerminal()); err != nil {
				return err
			}
			cfg, err := a.LoadConfig()
			if err != nil {
				return err
			}
			if a.TrunkHost != "" { // createTrunk starts the service on the data folder
				if err = datafolder.CheckOwner(cfg.Data); err != nil {
					return fmt.Errorf("%w. Alternatively set up without a trunk, start the service, and run callboard trunks create", err)
				}
			}
			if err = a.WriteEnvFile(path, force); err != nil {
				return err
			}
			result := &initResult{EnvFile: path}
			note := cmd.ErrOrStderr()
			if a.TrunkHost != "" {
				err = createTrunk(cmd.Context(), cfg, a, result, note)
			}
			if asJSON {
				return errors.Join(printJSON(cmd.OutOrStdout(), result), err)
			}
			if err != nil {
				return fmt.Errorf("%s is written, but the trunk setup failed: %w", path, err)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s is written. Next:\n\n  callboard doctor --env-file %[1]s\n  callboard serve --env-file %[1]s\n\n", path)
			return err
		},
	}
	f := cmd.Flags()
	f.StringVar(&path, "env-file", "callboard.env", "file to write")
	f.BoolVar(&force, "force", false, "replace an existing file")
	f.BoolVar(&quiet, "yes", false, "do not ask: use defaults for all settings without a flag")
	f.BoolVar(&asJSON, "json", false, "print JSON and do not ask")
	f.StringVar(&a.Data, "data", "", "data folder. Default: "+setup.DefaultData)
	f.StringVar(&a.MasterKeyFile, "master-key-file", "", "file with the master key, outside of the data folder")
	f.StringVar(&a.RedisURL, "redis-url", "", "Redis that stores the records")
	f.StringVar(&a.SIP, "sip", "", "listen address of SIP. Default: the address of this machine and port 5060")
	f.StringVar(&a.PublicIP, "public-ip", "", "public address of a NAT")
	f.StringVar(&a.MediaPorts, "media-ports", "", "UDP ports for RTP")
	f.StringVar(&a.HTTP, "http", "", "listen address of the API and the dashboard")
	f.StringVar(&a.PublicURL, "public-url", "", "base URL of links")
	f.StringVar(&a.TLSCert, "tls-cert", "", "certificate chain for HTTPS, PEM")
	f.StringVar(&a.TLSKey, "tls-key", "", "private key for HTTPS, PEM")
	f.StringVar(&a.TrustedProxies, "trusted-proxies", "", "networks of reverse proxies")
	f.StringVar(&a.TrunkHost, "trunk-host", "", "host of the carrier's SIP proxy")
	f.IntVar(&a.TrunkPort, "trunk-port", 0, "port of the carrier's SIP proxy. Default: 5060, over TLS 5061")
	f.StringVar(&a.TrunkTransport, "trunk-transport", "", "udp, tcp or tls. Default: udp")
	f.StringVar(&a.TrunkUser, "trunk-user", "", "user name at the carrier")
	f.StringVar(&passwordFile, "trunk-password-file", "", "file with the password at the carrier")
	f.BoolVar(&a.TrunkRegister, "trunk-register", false, "register with the carrier")
	f.StringVar(&a.CallerID, "caller-id", "", "caller ID of outbound calls")
	f.StringVar(&a.TestCall, "test-call", "", "number to call for a test")
	return cmd
}

// hiddenInputReader returns a function that reads a line without echo, or nil if from is not a terminal.
func hiddenInputReader(from io.Reader) func() (string, error) {
	in, ok := from.(*os.File)
	if !ok || !term.IsTerminal(int(in.Fd())) {
		return nil
	}
	return func() (string, error) {
		text, err := term.ReadPassword(int(in.Fd()))
		return string(text), err
	}
}

// createTrunk starts the service in this process, creates and tests the trunk that the answers describe, and stops
// the service.
func createTrunk(ctx context.Context, cfg *configs.Config, a *setup.Answers, result *initResult, note io.Writer) error {
	s, err := server.Start(ctx, cfg, logging.NewTo(note, slog.LevelWarn, false), server.Options{Version: version})
	if err != nil {
		return err
	}
	defer s.Close()
	key, err := os.ReadFile(filepath.Join(cfg.Data, "admin.key"))
	if err != nil {
		return fmt.Errorf("the operator's key is not in the data folder; create the trunk with callboard trunks create: %w", err)
	}
	c := inProcessClient(cfg, s.HTTPAddr, strings.TrimSpace(string(key)))
	trunk, err := c.CreateTrunk(ctx, a.NewTrunk())
	if err != nil {
		return err
	}
	result.TrunkID = trunk.ID
	test, err := c.TestTrunk(ctx, trunk.ID)
	if err != nil {
		return err
	}
	for _, x := range test.Targets {
		answer := fmt.Sprintf("answered %d %s", x.Code, x.Reason)
		if !x.Reachable {
			answer = "did not answer OPTIONS (some carriers never do): " + x.Error
		}
		_, _ = fmt.Fprintf(note, "trunk %s: %s %s\n", trunk.ID, cli.Clean(x.Target), cli.Clean(answer))
	}
	if a.TestCall == "" {
		return nil
	}
	return placeTestCall(ctx, c, a, result, note)
}

// inProcessClient returns an API client of the service that callboard init runs in this process.
func inProcessClient(cfg *configs.Config, at netip.AddrPort, key string) *client.Client {
	local := *cfg
	local.HTTP.PublicURL, local.PublicIP = "", netip.Addr{}
	c := &client.Client{URL: local.BaseURL(at), Key: key, Retries: 3}
	trustLocalCertificate(c, cfg)
	return c
}

// placeTestCall calls the test number that the operator has entered, and waits until the call ends.
func placeTestCall(ctx context.Context, c *client.Client, a *setup.Answers, result *initResult, note io.Writer) error {
	agent, err := c.CreateAgent(ctx, &client.NewAgent{Name: "first call", FirstMessage: new(testCallGreeting)})
	if err != nil {
		return err
	}
	call, err := c.PlaceCall(ctx, &client.NewCallRequest{To: a.TestCall, From: &a.CallerID, AgentID: &agent.ID})
	if err != nil {
		return err
	}
	result.CallID = call.ID
	_, _ = fmt.Fprintf(note, "call %s: dialing %s\n", call.ID, a.TestCall)
	bounded, cancel := context.WithTimeout(ctx, testCallTimeout)
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
	result.Call = call.Status
	if call.Status != "completed" {
		return fmt.Errorf("the test call failed: %s (%s)", call.Status, call.EndedReason)
	}
	_, _ = fmt.Fprintf(note, "call %s: answered, %d s\n", call.ID, call.DurationSeconds)
	return nil
}
