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

// inquirer asks the service that is named, else the one that runs here with
// the key of its first start, where that still lies there; nil: there is no key.
func inquirer(cmd *cobra.Command, cfg *configs.Config) (*client.Client, error) {
	c, err := cli.ClientOf(cmd)
	if err != nil || cli.IsRemote(cmd) {
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
	if cfg.HTTP.CertFile == "" {
		return
	}
	c.HTTP = &http.Client{Transport: &http.Transport{DialContext: (&net.Dialer{Timeout: ownDial}).DialContext, TLSClientConfig: &tls.Config{
		MinVersion: tls.VersionTLS12, InsecureSkipVerify: true, //nolint:gosec // VerifyConnection compares the certificate itself
		VerifyConnection: sameCertificate(cfg.HTTP.CertFile),
	}}}
}

// listening is where the service here listens, as this machine reaches it.
func listening(cfg *configs.Config) string {
	own := *cfg
	own.HTTP.PublicURL, own.PublicIP = "", netip.Addr{} // which a NAT need not lead back
	return own.BaseURL(cfg.HTTP.Addr)
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
