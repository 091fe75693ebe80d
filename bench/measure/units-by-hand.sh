# The units of a repository deployed by what one would type: $1 is the repository; the working directory is empty.
set -e
git clone --quiet --depth=1 --single-branch --no-tags -- "file://$1" tree
cd tree
terragrunt run --all --non-interactive --out-dir="$PWD/../plans" --json-out-dir="$PWD/../json" -- plan
terragrunt run --all --non-interactive --out-dir="$PWD/../plans" -- apply
terragrunt run --all --non-interactive -- output -json >../outputs.json
