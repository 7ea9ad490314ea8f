// Command gen cuts LiteLLM's price table down to the one that package cost
// embeds.
//
//	go run ./cost/internal/gen -date 2026-08-01 <model_prices.json >cost/prices.json
//
// The date is that of the table. What is kept and what is left out is told at
// cost.FromLiteLLM.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/ragjudge/ragjudge/cost"
)

func main() {
	date := flag.String("date", "", "day of the prices, YYYY-MM-DD")
	flag.Parse()
	if err := run(os.Stdin, os.Stdout, *date); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(in io.Reader, out io.Writer, date string) error {
	if _, err := time.Parse(time.DateOnly, date); err != nil {
		return errors.New("give the day of the prices as -date YYYY-MM-DD")
	}
	data, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	table, err := cost.FromLiteLLM(data, date)
	if err != nil {
		return err
	}
	if data, err = table.Encode(); err != nil {
		return err
	}
	_, err = out.Write(data)
	return err
}
