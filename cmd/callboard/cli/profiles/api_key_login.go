package profiles

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"net/url"
	"os"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/callboard/callboard/cmd/callboard/cli"
)

// LoginCommand returns the command callboard login.
func LoginCommand() *cobra.Command {
	var keyFile string
	insecure := false
	cmd := cli.NewCommand("login [NAME]", "Check the URL and the key of a service and save them as a profile",
		`callboard login --url https://calls.example.com             # asks for the key
callboard login test --url http://127.0.0.1:8080 --key-file data/test.key
callboard campaigns list --profile test`,
		cobra.MaximumNArgs(1), func(s *cli.Session, args []string) error {
			name := "default"
			if len(args) > 0 {
				name = args[0]
			}
			if !profileName.MatchString(name) {
				return cli.UsageErrorf("NAME must be 1 to 64 letters, digits, dots, dashes or underscores")
			}
			if isPlainHTTP(s.URL) && !insecure {
				return cli.UsageErrorf("%s is plain HTTP: the key would cross the network unencrypted; use https, or --insecure-http to permit it", s.URL)
			}
			key, err := readKey(s, keyFile, s.Command.Flags().Changed("key"))
			if err != nil {
				return err
			}
			s.Key = key
			w, err := s.GetWorkspace(s.Context())
			if err != nil {
				return fmt.Errorf("the service at %s rejects the key: %w", s.URL, err)
			}
			all, err := cli.ReadProfiles()
			if err != nil {
				return err
			}
			all.List[name], all.Current = cli.Profile{URL: s.URL, Key: key}, name
			if err = all.Write(); err != nil {
				return err
			}
			if s.AsJSON {
				return s.PrintJSON(map[string]string{"profile": name, "url": s.URL, "workspace_id": w.ID, "workspace": w.Name, "environment": cli.EnvironmentOf(s, w)})
			}
			s.PrintLinef("%s is %s, workspace %s (%s)", name, s.URL, w.Name, cli.EnvironmentOf(s, w))
			return nil
		})
	cmd.Flags().StringVar(&keyFile, "key-file", "", "file with the key; - is the standard input")
	cmd.Flags().BoolVar(&insecure, "insecure-http", false, "permit sending the key over a network unencrypted")
	return cmd
}

// readKey returns the API key for a login. Its source is a file, --key, the environment, the terminal or the standard
// input.
func readKey(s *cli.Session, path string, byFlag bool) (string, error) {
	var text []byte
	var err error
	in, typed := s.Command.InOrStdin().(*os.File)
	switch {
	case path != "" && path != "-":
		text, err = os.ReadFile(path) //nolint:gosec // the user names it
	case path == "" && byFlag:
		return s.Key, nil
	case path == "" && os.Getenv(cli.EnvKey) != "":
		return os.Getenv(cli.EnvKey), nil
	case path == "" && typed && term.IsTerminal(int(in.Fd())):
		_, _ = fmt.Fprintf(s.ErrOut(), "API key of %s: ", s.URL)
		text, err = term.ReadPassword(int(in.Fd()))
		_, _ = fmt.Fprintln(s.ErrOut())
	default:
		var line string
		line, err = bufio.NewReader(io.LimitReader(s.Command.InOrStdin(), 1<<16)).ReadString('\n')
		if errors.Is(err, io.EOF) {
			err = nil
		}
		text = []byte(line)
	}
	if err != nil {
		return "", err
	}
	key := strings.TrimSpace(string(text))
	if key == "" || strings.ContainsAny(key, " \t\r\n") {
		return "", cli.UsageErrorf("the key is missing: --key-file, %s or the standard input must contain it on one line", cli.EnvKey)
	}
	return key, nil
}

// isPlainHTTP reports whether requests to an address would send the API key over a network without encryption.
func isPlainHTTP(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" {
		return false
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return u.Hostname() != "localhost" && (err != nil || !ip.IsLoopback())
}

var profileName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)
