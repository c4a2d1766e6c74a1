package main

import (
	"bytes"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/callboard/callboard/client"
	"github.com/callboard/callboard/cmd/callboard/cli"
	"github.com/callboard/callboard/configs"
)

// localClient returns a client of the service that the command-line flags select. Default: the service on this
// machine, with the API key of its first start. The client is nil if the data folder does not contain the key.
func localClient(cmd *cobra.Command, cfg *configs.Config) (*client.Client, error) {
	c, err := cli.ClientOf(cmd)
	if err != nil || cli.IsRemote(cmd) {
		return c, err
	}
	c.URL = localURL(cfg)
	if c.Key == "" || !cmd.Flags().Changed("key") && os.Getenv("CALLBOARD_KEY") == "" {
		text, err := os.ReadFile(filepath.Join(cfg.Data, "admin.key"))
		if err != nil {
			return nil, nil //nolint:nilnil,nilerr // the key is stored elsewhere
		}
		c.Key = strings.TrimSpace(string(text))
	}
	trustLocalCertificate(c, cfg)
	return c, nil
}

// localDialTimeout bounds the time to connect to a service on this machine.
const localDialTimeout = 5 * time.Second

// trustLocalCertificate makes c accept exactly the certificate of the service on this machine, for any host name.
func trustLocalCertificate(c *client.Client, cfg *configs.Config) {
	if cfg.HTTP.CertFile == "" {
		return
	}
	c.HTTP = &http.Client{Transport: &http.Transport{DialContext: (&net.Dialer{Timeout: localDialTimeout}).DialContext, TLSClientConfig: &tls.Config{
		MinVersion: tls.VersionTLS12, InsecureSkipVerify: true, //nolint:gosec // VerifyConnection compares the certificate itself
		VerifyConnection: requireCertificate(cfg.HTTP.CertFile),
	}}}
}

// localURL returns the URL of the service on this machine.
func localURL(cfg *configs.Config) string {
	local := *cfg
	local.HTTP.PublicURL, local.PublicIP = "", netip.Addr{} // a NAT may not route the public address back to this machine
	return local.BaseURL(cfg.HTTP.Addr)
}

// requireCertificate returns a TLS check that accepts a peer only with the first certificate of the file.
func requireCertificate(path string) func(tls.ConnectionState) error {
	return func(s tls.ConnectionState) error {
		text, err := os.ReadFile(path) //nolint:gosec // the operator names it
		if err != nil {
			return err
		}
		block, _ := pem.Decode(text)
		if block == nil || len(s.PeerCertificates) == 0 || !bytes.Equal(block.Bytes, s.PeerCertificates[0].Raw) {
			return errors.New("the service presents another certificate than the one in tls_cert")
		}
		return nil
	}
}
