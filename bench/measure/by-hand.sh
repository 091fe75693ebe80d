# What one would type instead of asking the service: $1 is the repository; the working directory is empty. $2, if given, is the
# folder that keeps the state between runs.
set -e
git clone --quiet --depth=1 --single-branch --no-tags -- "file://$1" tree
cd tree
if [ -n "${2-}" ] && [ -f "$2/terraform.tfstate" ]; then cp "$2/terraform.tfstate" .; fi
terraform init -input=false
terraform plan -input=false -out=tfplan
terraform show -json tfplan >plan.json
terraform apply -input=false tfplan
terraform output -json >output.json
if [ -n "${2-}" ]; then cp terraform.tfstate "$2"; fi
